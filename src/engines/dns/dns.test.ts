import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtFile } from '#core/built.ts'
import { defaultRateLimit } from './limit.ts'
import { bytesOf, keyOf } from './name.ts'
import { types } from './rdata.ts'
import { type DnsOptions, type DnsServer, startDnsServer } from './server.ts'
import type { Zone } from './zone.ts'

const zone: Zone = {
  name: 'example.com',
  serial: 7,
  negativeTtl: 300,
  primary: 'ns1.example.com',
  contact: 'hostmaster.example.com',
  records: [
    { name: 'example.com', type: 'NS', ttl: 60, data: 'ns1.example.com' },
    { name: 'ns1.example.com', type: 'A', ttl: 60, data: '192.0.2.53' },
    { name: 'www.example.com', type: 'A', ttl: 60, data: '192.0.2.1' },
    { name: 'www.example.com', type: 'A', ttl: 30, data: '192.0.2.2' },
    { name: 'www.example.com', type: 'AAAA', ttl: 60, data: '2001:db8::1' },
    { name: 'alias.example.com', type: 'CNAME', ttl: 60, data: 'www.example.com' },
    { name: 'lost.example.com', type: 'CNAME', ttl: 60, data: 'nowhere.example.com' },
    { name: 'away.example.com', type: 'CNAME', ttl: 60, data: 'www.other.net' },
    { name: 'round.example.com', type: 'CNAME', ttl: 60, data: 'about.example.com' },
    { name: 'about.example.com', type: 'CNAME', ttl: 60, data: 'round.example.com' },
    { name: '*.wild.example.com', type: 'TXT', ttl: 60, data: ['any'] },
    { name: 'deep.under.wild.example.com', type: 'A', ttl: 60, data: '192.0.2.9' },
    { name: 'sub.example.com', type: 'NS', ttl: 60, data: 'ns.sub.example.com' },
    { name: 'ns.sub.example.com', type: 'A', ttl: 60, data: '192.0.2.54' },
    ...Array.from({ length: 40 }, (_, index) => ({
      name: 'big.example.com',
      type: 'TXT',
      ttl: 60,
      data: [`${index} ${'x'.repeat(60)}`],
    })),
  ],
}

const threads: Worker[] = []
const servers: DnsServer[] = []
const start = async (options: Partial<DnsOptions> = {}) => {
  const server = await startDnsServer({
    host: '127.0.0.1',
    ports: [0],
    load: async () => [zone],
    startThread: (workerData) => {
      const thread = new Worker(builtFile('dns.worker.js'), { workerData })
      threads.push(thread)
      return thread
    },
    log: () => undefined,
    ...options,
  })
  servers.push(server)
  return server
}

let server: DnsServer
beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  for (const each of servers) await each.close()
})

interface Asked {
  flags?: number
  class?: number
  edns?: { size: number; version?: number }
}

const question = (name: string, type: number, asked: Asked = {}): Buffer => {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0x1234, 0)
  head.writeUInt16BE(asked.flags ?? 0x0100, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(asked.edns ? 1 : 0, 10)
  const tail = Buffer.alloc(4)
  tail.writeUInt16BE(type, 0)
  tail.writeUInt16BE(asked.class ?? 1, 2)
  const option = Buffer.alloc(asked.edns ? 11 : 0)
  if (asked.edns) {
    option.writeUInt16BE(types.OPT, 1)
    option.writeUInt16BE(asked.edns.size, 3)
    option[6] = asked.edns.version ?? 0
  }
  const labels = name === '' ? [] : name.split('.')
  const encoded = Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])
  return Buffer.concat([head, encoded, tail, option])
}

const send = (message: Buffer, port = server.port, patience = 1000): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    const done = (answer?: Buffer) => {
      clearTimeout(timer)
      socket.close()
      resolve(answer)
    }
    const timer = setTimeout(done, patience)
    socket.once('message', done)
    socket.send(message, port, '127.0.0.1')
  })

/** Header fields of an answer, and its bytes as text to look into. */
const read = (answer: Buffer | undefined) => {
  if (!answer) throw new Error('There was no answer.')
  return {
    id: answer.readUInt16BE(0),
    authoritative: Boolean(answer.readUInt16BE(2) & 0x0400),
    truncated: Boolean(answer.readUInt16BE(2) & 0x0200),
    rcode: answer.readUInt16BE(2) & 15,
    answers: answer.readUInt16BE(6),
    authority: answer.readUInt16BE(8),
    additional: answer.readUInt16BE(10),
    text: answer.toString('latin1'),
    size: answer.length,
  }
}

const ask = async (name: string, type: number, asked: Asked = {}) =>
  read(await send(question(name, type, asked)))

const has = (name: string) => expect.stringContaining(bytesOf(keyOf(name)).toString('latin1'))

test('addresses are answered, with the letters of the question as they came', async () => {
  const answer = await ask('WwW.eXample.CoM', types.A)
  expect(answer).toMatchObject({ id: 0x1234, authoritative: true, rcode: 0, answers: 2 })
  expect(answer.text).toContain('eXample')
  expect(answer.text).not.toContain('example')
  expect(await ask('www.example.com', types.AAAA)).toMatchObject({ answers: 1 })
})

test('aliases are followed as far as we know', async () => {
  expect(await ask('alias.example.com', types.A)).toMatchObject({ answers: 3, rcode: 0 })
  expect(await ask('away.example.com', types.A)).toMatchObject({ answers: 1, rcode: 0 })
  expect(await ask('lost.example.com', types.A)).toMatchObject({
    answers: 1,
    rcode: 3,
    authority: 1,
  })
  expect(await ask('round.example.com', types.A)).toMatchObject({ answers: 2, rcode: 0 })
  expect(await ask('alias.example.com', types.CNAME)).toMatchObject({ answers: 1 })
})

test('what is not there is denied with the SOA record', async () => {
  const denial = { answers: 0, authority: 1, authoritative: true }
  expect(await ask('nope.example.com', types.A)).toMatchObject({ rcode: 3, ...denial })
  expect(await ask('www.example.com', types.MX)).toMatchObject({ rcode: 0, ...denial })
  // A name that only has names below it exists.
  expect(await ask('under.wild.example.com', types.A)).toMatchObject({ rcode: 0, ...denial })
})

test('wildcards cover names that do not exist, and only those', async () => {
  expect(await ask('a.wild.example.com', types.TXT)).toMatchObject({ answers: 1 })
  expect(await ask('a.b.wild.example.com', types.TXT)).toMatchObject({ answers: 1 })
  expect(await ask('a.wild.example.com', types.A)).toMatchObject({ answers: 0, rcode: 0 })
  expect(await ask('deep.under.wild.example.com', types.TXT)).toMatchObject({ answers: 0 })
  expect(await ask('x.under.wild.example.com', types.TXT)).toMatchObject({ answers: 0, rcode: 3 })
})

test('a part handed to others is referred to them, with their addresses', async () => {
  const referral = await ask('host.sub.example.com', types.A, { edns: { size: 1232 } })
  expect(referral).toMatchObject({ authoritative: false, answers: 0, authority: 1, additional: 2 })
  expect(referral.text).toEqual(has('ns.sub.example.com'))
})

test('what is too large for UDP is cut and asked for over TCP', async () => {
  expect(await ask('big.example.com', types.TXT)).toMatchObject({ truncated: true, answers: 0 })
  const larger = await ask('big.example.com', types.TXT, { edns: { size: 4096 } })
  expect(larger).toMatchObject({ truncated: true, additional: 1 })
  const message = question('big.example.com', types.TXT)
  const size = Buffer.alloc(2)
  size.writeUInt16BE(message.length)
  const framed = Buffer.concat([size, message])
  // Two questions on one connection, the first in two pieces.
  const answers = await new Promise<Buffer>((resolve) => {
    const socket = connect(server.port, '127.0.0.1')
    const parts: Buffer[] = []
    socket.on('data', (part) => {
      parts.push(part)
      const all = Buffer.concat(parts)
      const first = all.length > 2 ? all.readUInt16BE(0) + 2 : Number.POSITIVE_INFINITY
      if (all.length >= first * 2) {
        socket.destroy()
        resolve(all.subarray(2, first))
      }
    })
    socket.write(framed.subarray(0, 5))
    setTimeout(() => socket.write(Buffer.concat([framed.subarray(5), framed])), 20)
  })
  expect(read(answers)).toMatchObject({ truncated: false, answers: 40 })
})

test('what is not a question to us is refused', async () => {
  expect(await ask('example.org', types.A)).toMatchObject({ rcode: 5, answers: 0 })
  expect(await ask('example.com', types.AXFR)).toMatchObject({ rcode: 5 })
  expect(await ask('example.com', types.IXFR)).toMatchObject({ rcode: 5 })
  expect(await ask('version.bind', types.TXT, { class: 3 })).toMatchObject({ rcode: 5 })
  expect(await ask('example.com', types.A, { flags: 0x2800 })).toMatchObject({ rcode: 4 })
  const newer = await ask('example.com', types.A, { edns: { size: 1232, version: 1 } })
  expect(newer).toMatchObject({ rcode: 0, answers: 0, additional: 1 }) // BADVERS: 1 in the option
  expect(read(await send(Buffer.concat([question('a', 1), Buffer.alloc(3)])))).toMatchObject({
    rcode: 5,
  })
  const torn = question('www.example.com', types.A).subarray(0, 20)
  expect(read(await send(torn))).toMatchObject({ rcode: 1 })
  expect(await send(question('www.example.com', 1, { flags: 0x8100 }), server.port, 100)).toBe(
    undefined,
  )
})

test('ANY gets one set of records, so that nobody is flooded by it', async () => {
  expect(await ask('www.example.com', types.ANY)).toMatchObject({ answers: 2 })
})

test('a network that asks too much is sent to TCP, then ignored', async () => {
  const limited = await start({ rateLimit: { ...defaultRateLimit, perSecond: 10, loopback: true } })
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => send(question('www.example.com', 1), limited.port, 300)),
  )
  const given = answers.filter((answer) => answer !== undefined).map(read)
  expect(given.filter(({ truncated }) => !truncated).length).toBeLessThanOrEqual(14)
  expect(given.filter(({ truncated }) => truncated).length).toBeGreaterThan(5)
  expect(answers.filter((answer) => answer === undefined).length).toBeGreaterThan(5)
})

test('clients that only hold connections are let go, and disturb nobody', async () => {
  const patient = await start({ tcp: { connections: 50, patience: 300 } })
  const sockets = Array.from({ length: 80 }, () => connect(patient.port, '127.0.0.1'))
  const closed = sockets.map((socket) => {
    socket.on('error', () => undefined)
    return new Promise((resolve) => socket.once('close', resolve))
  })
  // One byte every 50 ms would keep an idle timer from ever firing.
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(Buffer.from([1]))
  }, 50)
  expect(read(await send(question('www.example.com', 1), patient.port))).toMatchObject({
    answers: 2,
  })
  await Promise.all(closed)
  clearInterval(drip)
  expect(read(await send(question('www.example.com', 1), patient.port))).toMatchObject({
    answers: 2,
  })
})

test('the thread comes back with all zones when it is killed', async () => {
  const lasting = await start()
  const thread = threads.at(-1)
  await thread?.terminate()
  await lasting.change({
    zone: 'example.com',
    serial: 8,
    name: 'new.example.com',
    records: [{ name: 'new.example.com', type: 'A', ttl: 60, data: '192.0.2.77' }],
  })
  for (const name of ['new.example.com', 'www.example.com']) {
    expect(read(await send(question(name, 1), lasting.port)).answers).toBeGreaterThan(0)
  }
})

test('a name goes with its last record, and its empty parents with it', async () => {
  const changing = await start()
  const change = (records: Zone['records'], serial: number) =>
    changing.change({ zone: 'example.com', serial, name: 'a.b.example.com', records })
  const codeOf = async (name: string) =>
    read(await send(question(name, types.A), changing.port)).rcode
  expect(await codeOf('b.example.com')).toBe(3)
  await change([{ name: 'a.b.example.com', type: 'A', ttl: 1, data: '192.0.2.1' }], 8)
  expect(await codeOf('b.example.com')).toBe(0)
  await change([], 9)
  expect(await codeOf('b.example.com')).toBe(3)
})

test('hostile packets do no harm', async () => {
  const seconds = Number(process.env.FUZZ_SECONDS ?? 1.5)
  const target = await start()
  const before = threads.length
  const socket = createSocket('udp4')
  const whole = [
    question('www.example.com', 1, { edns: { size: 1232 } }),
    question('a.wild.example.com', 16),
    question('example.com', 252),
  ]
  let sent = 0
  for (const until = performance.now() + seconds * 1000; performance.now() < until; sent++) {
    const message = Buffer.from(whole[sent % whole.length] ?? Buffer.alloc(0))
    for (let change = 0; change < sent % 6; change++) {
      message[Math.floor(Math.random() * message.length)] = Math.floor(Math.random() * 256)
    }
    const cut =
      sent % 5 === 0 ? message.subarray(0, Math.floor(Math.random() * message.length)) : message
    const noise = Buffer.from(Array.from({ length: 60 }, () => Math.floor(Math.random() * 256)))
    socket.send(sent % 11 === 0 ? noise : cut, target.port, '127.0.0.1')
    if (sent % 50 === 0) await pause(1)
  }
  socket.close()
  expect(sent).toBeGreaterThan(1000 * seconds)
  expect(read(await send(question('www.example.com', 1), target.port, 5000))).toMatchObject({
    answers: 2,
  })
  expect(threads.length).toBe(before) // it never had to be started again
}, 120_000)
