import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

export interface Load {
  url: string
  headers: Record<string, string>
  body: string
  connections: number
  ms: number
}

export interface LoadResult {
  perSecond: number
  requests: number
  latencies: number[]
}

/** Keeps every connection busy for a while; an answer that is not 200 ends the benchmark. */
export const load = async ({ url, headers, body, connections, ms }: Load): Promise<LoadResult> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latencies: number[] = []
  const until = performance.now() + ms
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const started = performance.now()
      const call = request(url, { method: 'POST', agent, headers }, (answer) => {
        let said = ''
        answer.on('data', (data) => {
          if (answer.statusCode !== 200) said += data
        })
        answer.on('end', () => {
          if (answer.statusCode !== 200)
            reject(new Error(`${url} answered ${answer.statusCode}: ${said}`))
          latencies.push(performance.now() - started)
          resolve()
        })
      })
      call.on('error', reject)
      call.end(body)
    })
  const started = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) await send()
    }),
  )
  agent.destroy()
  const seconds = (performance.now() - started) / 1000
  return { perSecond: latencies.length / seconds, requests: latencies.length, latencies }
}

/** CPU milliseconds that a process has used, all its threads. */
export const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
