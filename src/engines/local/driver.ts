import { join } from 'node:path'
import { ApiError, messageOf } from '#core/error.ts'
import type { CertificateAuthority } from '../certificates/authority.ts'
import type { ClusterSpec, ClusterState, EngineDriver, EngineVersion } from '../database.ts'
import type { LocalEngine, Manifest, Node, Release } from './engine.ts'
import { appear, exists, privateFolder, treeBytes } from './files.ts'
import { clusterFolder, portOf } from './folder.ts'
import type { Gate } from './gate.ts'
import type { Identity } from './identity.ts'
import { usage } from './process.ts'
import { createSerial } from './serial.ts'
import type { Server, Supervisor } from './supervisor.ts'
import { tail } from './supervisor.ts'

export interface LocalWorld {
  /** Everything lives under it. */
  home: string
  templates: string
  authority: CertificateAuthority
  gate: Gate
  supervisor: Supervisor
  as: Identity | undefined
  log(message: string): void
}

/** An engine whose servers are processes on this machine. */
export const localDriver = (engine: LocalEngine, world: LocalWorld): EngineDriver => {
  const { gate, supervisor } = world
  const folder = clusterFolder({ ...world, engine: engine.engine })
  const serial = createSerial()

  const releaseOf = async (version: string): Promise<Release> => {
    const found = (await engine.releases()).find((release) => release.version === version)
    if (found) return found
    throw ApiError.unavailable(`Version ${version} of ${engine.engine} is not on this machine.`)
  }
  const manifestOf = async (id: string): Promise<Manifest> => {
    const manifest = await folder.read(id)
    if (!manifest) throw ApiError.notFound(`Database cluster ${id}`)
    return manifest
  }
  const nodesOf = async (manifest: Manifest): Promise<Node[]> => {
    const release = await releaseOf(manifest.version)
    return manifest.nodes.map((name) => folder.node(manifest, release, name))
  }
  const cluster = async (id: string): Promise<[Node, ...Node[]]> => {
    const [primary, ...replicas] = await nodesOf(await manifestOf(id))
    if (!primary) throw ApiError.notFound(`Database cluster ${id}`)
    return [primary, ...replicas]
  }
  const accountNodes = async (id: string) => {
    const nodes = await cluster(id)
    return engine.accountsPerNode ? nodes : [nodes[0]]
  }
  const key = (node: Node) => `${engine.engine} ${node.cluster.id} ${node.name}`
  const server = (node: Node, primary: Node): Server => ({
    command: async () => {
      // A restart long after takes what the cluster is by then.
      const now = await cluster(node.cluster.id)
      const self = now.find((one) => one.name === node.name) ?? node
      await engine.configure(self, self === node ? primary : now[0])
      return engine.command(self)
    },
    log: join(node.dir, 'server.log'),
    mark: join(node.dir, 'process.json'),
    stopSignal: engine.stopSignal,
    graceMs: engine.graceMs,
    ready: () => engine.ready(node),
    ...(node.role === 'primary' ? { lost: () => failOver(node.cluster.id) } : {}),
  })
  const up = (node: Node, primary: Node) => supervisor.up(key(node), server(node, primary))
  const down = (node: Node) => supervisor.down(key(node), server(node, node))

  /** A node's folder with its data, made whole or not at all. */
  const make = async (node: Node, fill: (data: string) => Promise<void>) => {
    if (await exists(node.data)) return
    await privateFolder(node.dir, node.as)
    await privateFolder(node.run, node.as)
    await appear(node.data, fill)
  }
  const discard = async (node: Node) => {
    await down(node)
    await folder.remove(node.cluster.id, node.name)
  }
  const openDoor = (manifest: Manifest) =>
    gate.set(manifest.id, {
      address: manifest.address,
      ports: manifest.nodes.map((_, index) => portOf(index)),
      sources: manifest.sources,
      uid: world.as?.uid,
    })

  /** Replicas as many as wanted, each running. */
  const settleReplicas = async (manifest: Manifest, wanted: number): Promise<Manifest> => {
    let now = manifest
    while (now.nodes.length > wanted) {
      const last = (await nodesOf(now)).at(-1)
      now = { ...now, nodes: now.nodes.slice(0, -1) }
      await folder.write(now)
      if (last) await discard(last)
    }
    while (now.nodes.length < wanted) {
      now = { ...now, nodes: [...now.nodes, `node-${now.next}`], next: now.next + 1 }
      await folder.write(now)
    }
    const [primary, ...replicas] = await nodesOf(now)
    if (!primary) return now
    for (const replica of replicas) {
      await make(replica, (data) => engine.replicate(replica, primary, data))
      await up(replica, primary)
    }
    return now
  }

  const restartAll = async (id: string) => {
    const [primary, ...replicas] = await cluster(id)
    for (const node of [...replicas, primary]) await down(node)
    await up(primary, primary)
    for (const node of replicas) await up(node, primary)
  }

  /** The primary cannot be brought back: the first replica takes its place and its port. */
  const failOver = async (id: string): Promise<boolean> => {
    const [lost, heir] = await cluster(id)
    if (!lost || !heir) return false
    world.log(`${engine.engine} ${id}: ${heir.name} takes over from ${lost.name}`)
    takeOver(id, lost, heir).catch((error: unknown) =>
      world.log(`${engine.engine} ${id}: the take-over failed: ${messageOf(error)}`),
    )
    return true
  }
  const takeOver = (id: string, lost: Node, heir: Node) =>
    serial(id, async () => {
      await engine.promote(heir)
      await down(heir)
      const manifest = await manifestOf(id)
      const others = manifest.nodes.filter((name) => name !== lost.name && name !== heir.name)
      const wanted = manifest.nodes.length
      const next = { ...manifest, nodes: [heir.name, ...others] }
      await folder.write(next)
      for (const name of others) await discard(folder.node(next, lost.release, name))
      const [primary] = await cluster(id)
      await up(primary, primary)
      const alone = { ...next, nodes: [heir.name] }
      await folder.remove(id, lost.name)
      await folder.write(alone)
      await settleReplicas(alone, wanted)
    })

  const stateOf = async (manifest: Manifest): Promise<ClusterState> => {
    const release = await releaseOf(manifest.version)
    return {
      primary: { host: manifest.address, port: portOf(0) },
      ...(manifest.nodes.length > 1
        ? { standby: { host: manifest.address, port: portOf(1) } }
        : {}),
      version: { ...release, available: true },
      notes: ['Storage is not limited on this machine.'],
    }
  }

  /** A restored cluster holds the accounts of the one it comes from, so it has its root password too. */
  const create = async (spec: ClusterSpec): Promise<Manifest> => {
    const origin = spec.restore ? await manifestOf(spec.restore.cluster) : undefined
    const manifest = await folder.create(spec)
    if (!origin) return manifest
    const heir = { ...manifest, rootPassword: origin.rootPassword, settings: origin.settings }
    await folder.write(heir)
    return heir
  }

  const ensure = async (spec: ClusterSpec): Promise<ClusterState> => {
    if (spec.nodes > engine.maxNodes)
      throw ApiError.invalid(`num_nodes must be at most ${engine.maxNodes} for ${engine.engine}.`)
    const before = (await folder.read(spec.id)) ?? (await create(spec))
    const resized = before.memoryMib !== spec.memoryMib
    const manifest = { ...before, memoryMib: spec.memoryMib, storageMib: spec.storageMib }
    await folder.write(manifest)
    const release = await releaseOf(manifest.version)
    for (const name of await folder.strays(manifest))
      await discard(folder.node(manifest, release, name))
    const [primary] = await nodesOf(manifest)
    if (!primary) throw new Error(`Cluster ${spec.id} has no node.`)
    await make(primary, (data) =>
      spec.restore
        ? engine.restore(
            primary,
            folder.path(spec.restore.cluster, 'backups', spec.restore.backup),
            data,
          )
        : engine.initialise(primary, data),
    )
    if (resized && manifest.bootstrapped) await restartAll(spec.id)
    await up(primary, primary)
    if (!manifest.bootstrapped) {
      await engine.bootstrap(primary)
      manifest.bootstrapped = true
      await folder.write(manifest)
    }
    const settled = await settleReplicas(manifest, spec.nodes)
    await openDoor(settled)
    return stateOf(settled)
  }

  const versions = async (): Promise<EngineVersion[]> => {
    const releases = await engine.releases()
    if (releases.length > 0) return releases.map((release) => ({ ...release, available: true }))
    return [
      {
        version: '',
        semantic: '',
        product: engine.engine,
        available: false,
        reason: engine.missing,
      },
    ]
  }

  const upgrade = async (id: string, version: string) => {
    const before = await manifestOf(id)
    if (before.version === version) return
    const release = await releaseOf(version)
    const [old, ...replicas] = await cluster(id)
    const name = `node-${before.next}`
    const after = { ...before, version, nodes: [name], next: before.next + 1 }
    const fresh = folder.node(after, release, name)
    for (const node of [...replicas, old]) await down(node)
    try {
      await make(fresh, (data) => engine.upgrade(old, fresh, data))
      await up(fresh, fresh)
    } catch (error) {
      await discard(fresh)
      await up(old, old)
      for (const node of replicas) await up(node, old)
      throw error
    }
    await folder.write(after)
    for (const node of [old, ...replicas]) await folder.remove(id, node.name)
    await settleReplicas(after, before.nodes.length)
    await engine.applyConfig([fresh], before.settings)
  }

  const migrationNow = async (id: string) => {
    const manifest = await manifestOf(id)
    const [primary] = await cluster(id)
    const migration = manifest.migration
    if (!migration) return { manifest, primary, migration }
    const now = await engine.migration.status(primary, migration)
    const next = { ...manifest, migration: now }
    if (JSON.stringify(now) !== JSON.stringify(migration)) await folder.write(next)
    return { manifest: next, primary, migration: now }
  }

  return {
    engine: engine.engine,
    versions,
    ensure: (spec) => serial(spec.id, () => ensure(spec)),
    destroy: (id) =>
      serial(id, async () => {
        const manifest = await folder.read(id)
        if (!manifest) return
        const names = [...manifest.nodes, ...(await folder.strays(manifest))]
        const release = { version: '', semantic: '', product: '', bin: '' }
        for (const name of names) await down(folder.node(manifest, release, name))
        await gate.clear(id)
        await folder.remove(id)
      }),
    list: folder.list,
    authority: async () => world.authority.ca,
    observe: async (id) => {
      const manifest = await folder.read(id)
      const none = {
        restarts: 0,
        nodes: [],
        connections: 0,
        cpuSeconds: 0,
        memoryBytes: 0,
        diskBytes: 0,
      }
      if (!manifest) return { state: 'absent', ...none }
      const nodes = await nodesOf(manifest)
      const states = nodes.map((node) => ({ node, state: supervisor.state(key(node)) }))
      const primary = states[0]
      const running = primary?.state?.running ?? false
      const used = states.map(({ state }) =>
        state?.pid && state.running ? usage(state.pid) : undefined,
      )
      return {
        state: running ? 'online' : primary?.state?.problem ? 'failed' : 'starting',
        ...(primary?.state?.problem ? { problem: primary.state.problem } : {}),
        restarts: states.reduce((sum, { state }) => sum + (state?.restarts ?? 0), 0),
        nodes: states.map(({ node, state }) => ({
          role: node.role,
          state: state?.running ? 'running' : 'down',
        })),
        connections: running && primary ? await engine.connections(primary.node) : 0,
        cpuSeconds: used.reduce((sum, one) => sum + (one?.cpuSeconds ?? 0), 0),
        memoryBytes: used.reduce((sum, one) => sum + (one?.memoryBytes ?? 0), 0),
        diskBytes: await treeBytes(folder.path(id)),
      }
    },
    logs: async (id) => {
      const nodes = await cluster(id)
      const lines = await Promise.all(nodes.map((node) => tail(join(node.dir, 'server.log'), 200)))
      return lines.flat()
    },

    readConfig: async (id) => engine.readConfig((await cluster(id))[0]),
    applyConfig: (id, patch) =>
      serial(id, async () => {
        const nodes = await cluster(id)
        const manifest = await manifestOf(id)
        const outcome = await engine.applyConfig(nodes, patch)
        const settings = Object.fromEntries(
          Object.entries({ ...manifest.settings, ...patch }).filter(([, value]) => value !== null),
        )
        await folder.write({ ...manifest, settings })
        if (outcome.restart)
          await restartAll(id).catch(async (error: unknown) => {
            // The server does not start with them: the settings of before come back.
            await folder.write(manifest)
            await restartAll(id)
            throw ApiError.invalid(`The server refused the settings: ${messageOf(error)}`)
          })
        return { restarted: outcome.restart, notEnforced: outcome.notEnforced }
      }),

    listUsers: async (id) => engine.listUsers((await cluster(id))[0]),
    putUser: (id, user) =>
      serial(id, async () => {
        for (const node of await accountNodes(id)) await engine.putUser(node, user)
        if (!user.primary) return
        const manifest = await manifestOf(id)
        await folder.write({ ...manifest, admin: { name: user.name, password: user.password } })
      }),
    deleteUser: (id, name) =>
      serial(id, async () => {
        for (const node of await accountNodes(id)) await engine.deleteUser(node, name)
      }),
    listDatabases: async (id) => engine.listDatabases((await cluster(id))[0]),
    createDatabase: (id, name) =>
      serial(id, async () => engine.createDatabase((await cluster(id))[0], name)),
    deleteDatabase: (id, name) =>
      serial(id, async () => engine.deleteDatabase((await cluster(id))[0], name)),

    takeBackup: (id, backup) =>
      serial(id, async () => {
        const [primary] = await cluster(id)
        await privateFolder(folder.path(id, 'backups'), primary.as)
        const target = folder.path(id, 'backups', backup)
        if (!(await exists(target))) await appear(target, (into) => engine.backup(primary, into))
        return { bytes: await treeBytes(target) }
      }),
    removeBackup: (id, backup) => folder.remove(id, 'backups', backup),
    upgrade: (id, version) => serial(id, () => upgrade(id, version)),
    admit: (id, sources) =>
      serial(id, async () => {
        const manifest = { ...(await manifestOf(id)), sources: await sources() }
        await folder.write(manifest)
        return openDoor(manifest)
      }),

    startMigration: (id, source) =>
      serial(id, async () => {
        const { manifest, primary, migration } = await migrationNow(id)
        if (migration?.status === 'running' || migration?.status === 'syncing')
          throw ApiError.conflict(`Cluster ${id} is being migrated already; stop that first.`)
        await folder.write({
          ...manifest,
          migration: await engine.migration.start(primary, source),
        })
      }),
    migrationStatus: (id) =>
      serial(id, async () => {
        const { migration } = await migrationNow(id)
        return migration
          ? {
              status: migration.status,
              ...(migration.problem ? { problem: migration.problem } : {}),
            }
          : { status: 'none' }
      }),
    stopMigration: (id) =>
      serial(id, async () => {
        const { manifest, primary, migration } = await migrationNow(id)
        if (!migration || migration.status === 'canceled') return
        await engine.migration.stop(primary, migration)
        await folder.write({ ...manifest, migration: { ...migration, status: 'canceled' } })
      }),

    ...(engine.topics ? { topics: engine.topics(cluster) } : {}),
  }
}
