import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CertificateAuthority } from '../certificates/authority.ts'
import type { ClusterSpec } from '../database.ts'
import { chooseAddress } from './address.ts'
import type { Manifest, Node, Release } from './engine.ts'
import { exists, passage, readJson, writeWhole } from './files.ts'
import type { Gate } from './gate.ts'
import type { Identity } from './identity.ts'

/** Ports of a cluster's nodes: the primary's first. Every cluster has an address of its own. */
export const portOf = (index: number): number => 25060 + index

/** Ports that are kept free for a cluster to grow into. */
const mostNodes = 8

/** The clusters of one engine, as folders: `<home>/<id>/{cluster.json,tls,backups,node-0,…}`. */
export const clusterFolder = (world: {
  home: string
  engine: string
  templates: string
  authority: CertificateAuthority
  gate: Gate
  as: Identity | undefined
}) => {
  const { home, gate, as } = world
  const path = (id: string, ...rest: string[]) => join(home, id, ...rest)
  const file = (id: string) => path(id, 'cluster.json')

  const read = async (id: string): Promise<Manifest | undefined> => {
    const found = await readJson<Manifest & { engine: string }>(file(id))
    return found?.engine === world.engine ? found : undefined
  }
  const write = (manifest: Manifest) =>
    writeWhole(file(manifest.id), JSON.stringify({ ...manifest, engine: world.engine }))

  const list = async (): Promise<string[]> => {
    const names = await readdir(home).catch(() => [])
    const mine = await Promise.all(names.map(async (id) => ((await read(id)) ? [id] : [])))
    return mine.flat()
  }

  const takenAddresses = async () => {
    const names = await readdir(home).catch(() => [])
    const all = await Promise.all(names.map((id) => readJson<Manifest>(file(id))))
    return new Set(all.flatMap((manifest) => (manifest ? [manifest.address] : [])))
  }

  const create = async (spec: ClusterSpec): Promise<Manifest> => {
    await passage(home)
    await passage(path(spec.id))
    const ports = Array.from({ length: mostNodes }, (_, index) => portOf(index))
    const address = await chooseAddress(spec.id, ports, await takenAddresses())
    const manifest: Manifest = {
      id: spec.id,
      version: spec.version,
      address,
      nodes: ['node-0'],
      next: 1,
      memoryMib: spec.memoryMib,
      storageMib: spec.storageMib,
      admin: spec.admin,
      database: spec.database,
      rootPassword: randomBytes(18).toString('base64url'),
      bootstrapped: false,
      settings: {},
      sources: 'anyone',
    }
    const tls = path(spec.id, 'tls')
    await passage(tls)
    const issued = world.authority.issue({
      names: [`${spec.id}.db.cove.internal`, 'localhost'],
      addresses: [address, gate.inner(address)].filter((a, n, all) => all.indexOf(a) === n),
    })
    await writeWhole(join(tls, 'key.pem'), issued.key, as)
    await writeWhole(join(tls, 'cert.pem'), issued.cert, as)
    await writeWhole(join(tls, 'ca.pem'), issued.ca, as)
    await write(manifest)
    return manifest
  }

  const node = (manifest: Manifest, release: Release, name: string): Node => {
    const dir = path(manifest.id, name)
    const index = manifest.nodes.indexOf(name)
    return {
      cluster: manifest,
      name,
      role: index === 0 ? 'primary' : 'replica',
      release,
      as,
      dir,
      data: join(dir, 'data'),
      run: join(dir, 'run'),
      host: gate.inner(manifest.address),
      port: portOf(Math.max(0, index)),
      address: manifest.address,
      tls: {
        key: path(manifest.id, 'tls', 'key.pem'),
        cert: path(manifest.id, 'tls', 'cert.pem'),
        ca: path(manifest.id, 'tls', 'ca.pem'),
      },
      templates: world.templates,
    }
  }

  /** Folders of nodes that an interrupted change left behind. */
  const strays = async (manifest: Manifest): Promise<string[]> => {
    const names = await readdir(path(manifest.id))
    return names.filter((name) => /^node-\d+$/.test(name) && !manifest.nodes.includes(name))
  }

  return {
    path,
    read,
    write,
    list,
    create,
    node,
    strays,
    exists: (id: string) => exists(path(id)),
    remove: (id: string, ...rest: string[]) =>
      rm(path(id, ...rest), { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  }
}
