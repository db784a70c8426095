import { ApiError } from '#core/error.ts'
import type { EngineVersion } from '#engines/database.ts'
import { timestamp } from '#platform/clock.ts'
import { pageOfItems } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import { regionSlugs } from '../../compute/regions/contract.ts'
import { setTags, taggedWith } from '../../compute/tags/taggings.ts'
import { checkName, clusterAccess, type DatabaseEngines } from '../access.ts'
import { checkSource } from '../firewall/sources.ts'
import { adoptClusters } from './adopt.ts'
import { asBackup, takeBackup } from './backups.ts'
import { clusters, type EngineOptions } from './contract.ts'
import { asCluster } from './present.ts'
import { reconcileClusters } from './reconcile.ts'
import {
  backupRecords,
  type ClusterRecord,
  clusterRecords,
  type UserRecord,
  userKey,
  userRecords,
} from './records.ts'
import { databaseSize, databaseSizes, storageGrowth } from './sizes.ts'
import { type Slug, slugs, traits } from './traits.ts'

export const clusterService =
  (engines: DatabaseEngines): Service =>
  (on, kernel) => {
    const { store, clock, ids, actions, meter } = kernel
    const access = clusterAccess(store, engines)
    const { table } = access
    const backups = store.collection(backupRecords)

    const versionsOf = async (slug: Slug): Promise<EngineVersion[]> => {
      const all = await engines.drivers()
      const found = all.find((one) => one.engine === traits[slug].driver)
      return (await found?.versions()) ?? []
    }

    /** The version that was asked for, or the newest; refused with what there is. */
    const versionOf = async (slug: Slug, wanted: string | undefined): Promise<string> => {
      const all = await versionsOf(slug)
      const present = all.filter((one) => one.available)
      if (present.length === 0)
        throw ApiError.invalid(
          `engine ${slug} cannot be created here: ${all[0]?.reason ?? 'it is not installed.'}`,
        )
      const found =
        wanted === undefined ? present.at(-1) : present.find((one) => one.version === wanted)
      if (found) return found.version
      const list = present.map((one) => `${one.version} (${one.product})`).join(', ')
      throw ApiError.invalid(
        `version ${wanted} of ${slug} is not on this machine; there is ${list}.`,
      )
    }

    const sizeOf = (slug: string) => {
      const size = databaseSize(slug)
      if (size) return size
      throw ApiError.invalid(
        `size must be one of ${databaseSizes.map((one) => one.slug).join(', ')}.`,
      )
    }

    const nodesOf = (slug: Slug, nodes: number): number => {
      const allowed: readonly number[] = traits[slug].nodes
      if (allowed.includes(nodes)) return nodes
      throw ApiError.invalid(`num_nodes must be one of ${allowed.join(', ')} for ${slug}.`)
    }

    const storageOf = (size: string, wanted: number | null | undefined): number => {
      const { storage } = sizeOf(size)
      const mib = wanted || storage
      if (mib >= storage && mib <= storage * storageGrowth) return mib
      throw ApiError.invalid(
        `storage_size_mib must be between ${storage} and ${storage * storageGrowth} for ${size}.`,
      )
    }

    /** The backup that a new cluster starts from. */
    const originOf = async (wanted: {
      database_name: string
      backup_created_at?: string | undefined
    }) => {
      const [source] = await table.list({ where: { name: wanted.database_name, deleting: false } })
      if (!source) throw ApiError.notFound(`Database cluster ${wanted.database_name}`)
      const all = await backups.list({ where: { cluster: source.id }, newestFirst: true })
      const at = wanted.backup_created_at && Date.parse(wanted.backup_created_at)
      const backup = at ? all.find((one) => Date.parse(one.created_at) === at) : all[0]
      if (!backup) throw ApiError.notFound(`Backup of ${wanted.database_name} at the time given`)
      return { source, backup }
    }

    on(clusters.options, async ({ note }) => {
      const options: Record<string, EngineOptions> = {}
      const version_availability: Record<string, { version: string }[]> = {}
      const sizes = databaseSizes.map((size) => size.slug)
      for (const slug of slugs) {
        const all = await versionsOf(slug)
        const present = all.filter((one) => one.available)
        for (const one of all)
          if (!one.available) note(`${slug} cannot be created here: ${one.reason}`)
        if (present.length === 0) continue
        note(`${slug} is ${present.map((one) => one.product).join(', ')}.`)
        options[slug] = {
          regions: [...regionSlugs],
          versions: present.map((one) => one.version),
          layouts: traits[slug].nodes.map((num_nodes) => ({ num_nodes, sizes })),
        }
        version_availability[slug] = present.map(({ version }) => ({
          version,
          end_of_life: null,
          end_of_availability: null,
        }))
      }
      return { options, version_availability }
    })

    on(clusters.list, async ({ query, token }) => {
      const tagged = query.tag_name && (await taggedWith(store, 'database', [query.tag_name]))
      const all = await table.list({
        where: { deleting: false, ...(tagged ? { id: tagged } : {}) },
      })
      const page = pageOfItems('databases', all, query)
      return {
        ...page,
        databases: await Promise.all(page.databases.map((one) => asCluster(store, one, token))),
      }
    })

    on(clusters.get, async ({ path, token, note }) => {
      const record = await access.find(path.id)
      const standing = await table.standing(record.id)
      if (standing?.problem) note(standing.problem)
      for (const text of record.notes) note(text)
      return { database: await asCluster(store, record, token) }
    })

    on(clusters.create, async ({ body, token }) => {
      const engine = slugs.find((slug) => slug === body.engine)
      if (!engine)
        throw ApiError.invalid(
          `engine ${body.engine} is not run by this Cove; it runs ${slugs.join(', ')}.`,
        )
      if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(body.name))
        throw ApiError.invalid(
          'name must be 1 to 63 lower-case letters, digits or "-", and begin and end with a letter or digit.',
        )
      if (!(regionSlugs as readonly string[]).includes(body.region))
        throw ApiError.invalid(`region must be one of ${regionSlugs.join(', ')}.`)
      if ((await table.list({ where: { name: body.name, deleting: false } })).length > 0)
        throw ApiError.invalid(`name ${body.name} is taken by another database cluster.`)
      const origin = body.backup_restore ? await originOf(body.backup_restore) : undefined
      if (origin && traits[origin.source.engine].driver !== traits[engine].driver)
        throw ApiError.invalid(`engine must be ${origin.source.engine}, as the backup is.`)
      const version = await versionOf(engine, origin?.source.version ?? body.version)
      const num_nodes = nodesOf(engine, body.num_nodes)
      const storage_size_mib = storageOf(body.size, body.storage_size_mib)
      const id = ids.uuid()
      const given = body.rules ?? []
      for (const [index, rule] of given.entries()) await checkSource(store, rule, `rules[${index}]`)
      const now = timestamp(clock)
      const record: ClusterRecord = {
        id,
        name: body.name,
        engine,
        version,
        upgrade_to: null,
        semantic_version: version,
        num_nodes,
        size: body.size,
        storage_size_mib,
        region: body.region,
        status: origin ? 'forking' : 'creating',
        created_at: now,
        private_network_uuid: body.private_network_uuid ?? null,
        project_id: body.project_id ?? null,
        password: `AVNS_${ids.secret(12)}`,
        rules: given.map(({ type, value }) => ({
          uuid: ids.uuid(),
          cluster_uuid: id,
          type,
          value,
          created_at: now,
        })),
        origin: origin ? { cluster: origin.source.id, backup: origin.backup.name } : null,
        primary: null,
        standby: null,
        notes: [],
        backup_hour: new Date(clock.now()).getUTCHours(),
        backup_minute: new Date(clock.now()).getUTCMinutes(),
        next_backup: clock.now() + 86_400_000,
        migration: null,
        deleting: false,
      }
      const { admin } = traits[engine]
      const admitted: UserRecord = {
        key: userKey(id, admin),
        cluster: id,
        name: admin,
        password: record.password,
        role: 'primary',
        auth_plugin: null,
        readonly: false,
        settings: {},
        applied: true,
      }
      await store.transaction(async (tx) => {
        await tx.collection(clusterRecords).insert(record)
        await tx.collection(userRecords).insert(admitted)
        if (origin)
          for (const user of await tx
            .collection(userRecords)
            .list({ where: { cluster: origin.source.id } }))
            if (user.role === 'normal')
              await tx
                .collection(userRecords)
                .insert({ ...user, key: userKey(id, user.name), cluster: id, applied: false })
        await setTags(tx, 'database', id, body.tags ?? [])
        await actions.record(
          {
            type: 'create',
            resource_type: 'database',
            resource_id: null,
            region_slug: body.region,
          },
          tx,
        )
        await meter.start(
          {
            urn: `cove:database:${id}`,
            product: 'Managed databases',
            description: `${body.name} (${engine}, ${body.size} × ${num_nodes})`,
            hourly: sizeOf(body.size).hourly * num_nodes,
          },
          tx,
        )
      })
      return { database: await asCluster(store, record, token) }
    })

    on(clusters.delete, async ({ path }) => {
      await access.find(path.id)
      await table.update(path.id, (current) => ({ ...current, deleting: true }))
      await actions.record({ type: 'destroy', resource_type: 'database', resource_id: null })
    })

    on(clusters.ca, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      const pem = await driver.authority(record.id)
      return { ca: { certificate: Buffer.from(pem).toString('base64') } }
    })

    on(clusters.resize, async ({ path, body }) => {
      const { record } = await access.running(path.id)
      if (body.size === undefined && body.num_nodes === undefined && !body.storage_size_mib)
        throw ApiError.invalid('Give at least one of size, num_nodes, storage_size_mib.')
      const size = body.size ?? record.size
      const num_nodes = nodesOf(record.engine, body.num_nodes ?? record.num_nodes)
      const kept = size === record.size ? record.storage_size_mib : undefined
      const storage_size_mib = storageOf(size, body.storage_size_mib || kept)
      await table.update(record.id, (current) => ({
        ...current,
        size,
        num_nodes,
        storage_size_mib,
        status: 'resizing',
      }))
      await meter.start({
        urn: `cove:database:${record.id}`,
        product: 'Managed databases',
        description: `${record.name} (${record.engine}, ${size} × ${num_nodes})`,
        hourly: sizeOf(size).hourly * num_nodes,
      })
    })

    on(clusters.upgrade, async ({ path, body }) => {
      const { record } = await access.running(path.id)
      const version = await versionOf(record.engine, body.version)
      if (Number.parseFloat(version) <= Number.parseFloat(record.version))
        throw ApiError.invalid(
          `version must be newer than ${record.version}, which the cluster has.`,
        )
      await table.update(record.id, (current) => ({
        ...current,
        upgrade_to: version,
        status: 'migrating',
      }))
    })

    on(clusters.backups, async ({ path, query }) => {
      const record = await access.find(path.id)
      const all = await backups.list({ where: { cluster: record.id }, newestFirst: true })
      return {
        ...pageOfItems('backups', all.map(asBackup), query),
        scheduled_backup_time: {
          backup_hour: record.backup_hour,
          backup_minute: record.backup_minute,
          backup_interval_hours: 24,
        },
        backup_progress: '',
      }
    })

    on(clusters.backup, async ({ path }) => {
      const { record } = await access.running(path.id)
      return { backup: asBackup(await takeBackup(kernel, access, record)) }
    })

    on(clusters.metrics, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      const seen = await driver.observe(record.id)
      return {
        metrics: {
          state: seen.state,
          restarts: seen.restarts,
          connections: seen.connections,
          cpu_seconds: seen.cpuSeconds,
          memory_bytes: seen.memoryBytes,
          disk_bytes: seen.diskBytes,
          nodes: seen.nodes,
        },
      }
    })
    on(clusters.logs, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      return { logs: await driver.logs(record.id) }
    })

    on(clusters.listDatabases, async ({ path, query }) => {
      const { record, driver } = await access.running(path.id)
      const names = await driver.listDatabases(record.id)
      return pageOfItems(
        'dbs',
        names.map((name) => ({ name })),
        query,
      )
    })
    on(clusters.createDatabase, async ({ path, body }) => {
      const { record, driver } = await access.running(path.id)
      const name = checkName('name', body.name)
      if ((await driver.listDatabases(record.id)).includes(name))
        throw ApiError.invalid(`name ${name} is taken by another database of the cluster.`)
      await driver.createDatabase(record.id, name)
      return { db: { name } }
    })
    on(clusters.getDatabase, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      if (!(await driver.listDatabases(record.id)).includes(path.database))
        throw ApiError.notFound(`Database ${path.database}`)
      return { db: { name: path.database } }
    })
    on(clusters.deleteDatabase, async ({ path }) => {
      const { record, driver } = await access.running(path.id)
      if (!(await driver.listDatabases(record.id)).includes(path.database))
        throw ApiError.notFound(`Database ${path.database}`)
      await driver.deleteDatabase(record.id, path.database)
    })

    reconcileClusters(kernel, access)
    kernel.onStart(() => adoptClusters(access, engines))
    kernel.onStop(() => engines.close())
    kernel.report('databases', () => {
      const { missing, gate } = engines.glance()
      const [fetchable] = missing
      const firewall = `the firewall is ${gate === 'kernel' ? "the kernel's filter" : 'a proxy'}`
      return {
        state: 'running',
        enforced: true,
        reason: missing.length > 0 ? `${firewall}; not here: ${missing.join(', ')}` : firewall,
        ...(fetchable ? { fix: `cove engines install ${fetchable}` } : {}),
      }
    })
  }
