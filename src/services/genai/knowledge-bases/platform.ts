import { ApiError } from '#core/error.ts'
import { knowledgeEndpoint } from '#knowledge/endpoint.ts'
import type { Knowledge } from '#knowledge/knowledge.ts'
import { timestamp } from '#platform/clock.ts'
import { genaiPageOf } from '#platform/pages.ts'
import type { Service } from '#platform/service.ts'
import type { Store } from '#platform/store/store.ts'
import type { Token } from '#platform/tokens.ts'
import { asJob, indexingJobRecords, newJob } from '../indexing-jobs/contract.ts'
import { isOver } from '../indexing-jobs/shapes.ts'
import { requireBase } from './bases.ts'
import {
  builtInModel,
  dataSourceRecords,
  type EmbeddingEndpoint,
  type KnowledgeBaseRecord,
  knowledgeBaseRecords,
  knowledgeBases,
} from './contract.ts'
import { checkedSource, serveDataSources } from './data-sources.ts'
import { createRetrieve } from './retrieve.ts'
import { serveUploads } from './uploads.ts'

/** ms until a base that is being deleted is looked at again, while a job of it ends. */
const patience = 200

export const knowledgeBaseService =
  (knowledge: Knowledge, version: string): Service =>
  (on, kernel) => {
    const { store, clock, ids } = kernel
    const table = store.collection(knowledgeBaseRecords)
    const find = (uuid: string) => requireBase(store, uuid)

    on(knowledgeBases.list, async ({ query }) => {
      const page = await genaiPageOf('knowledge_bases', table, query, {
        where: { deleting: false },
      })
      const shown = page.knowledge_bases.map((record) => asKnowledgeBase(store, record))
      return { ...page, knowledge_bases: await Promise.all(shown) }
    })

    on(knowledgeBases.get, async ({ path }) => ({
      knowledge_base: await asKnowledgeBase(store, await find(path.uuid)),
      database_status: 'ONLINE',
    }))

    on(knowledgeBases.create, async ({ body, token }) => {
      const model = body.embedding_model_uuid
      if (model !== undefined && model !== builtInModel.uuid)
        throw ApiError.invalid(
          `embedding_model_uuid must be ${builtInModel.uuid} (${builtInModel.name}); name any other model in embedding_endpoint.`,
        )
      checkEndpoint(token, body.embedding_endpoint)
      const now = timestamp(clock)
      const uuid = ids.uuid()
      const sources = await Promise.all(
        body.datasources.map((source) => checkedSource(kernel, token, uuid, source)),
      )
      const record = await store.transaction(async (tx) => {
        await checkName(tx, body.name)
        const made = await tx.collection(knowledgeBaseRecords).insert({
          uuid,
          name: body.name,
          created_at: now,
          updated_at: now,
          region: body.region ?? 'local',
          project_id: body.project_id ?? '',
          tags: body.tags,
          ...(body.embedding_endpoint && { endpoint: body.embedding_endpoint }),
          deleting: false,
        })
        for (const source of sources) await tx.collection(dataSourceRecords).insert(source)
        if (sources.length > 0)
          await tx.collection(indexingJobRecords).insert(
            newJob({
              uuid: ids.uuid(),
              knowledge_base_uuid: uuid,
              data_source_uuids: sources.map((source) => source.uuid),
              report_key: ids.secret(24),
              created_at: now,
            }),
          )
        return made
      })
      return { knowledge_base: await asKnowledgeBase(store, record) }
    })

    on(knowledgeBases.update, async ({ path, body, token, note }) => {
      const before = await find(path.uuid)
      const { name, project_id, tags, embedding_endpoint: endpoint } = body
      checkEndpoint(token, endpoint ?? undefined)
      if (name !== undefined && name !== before.name) await checkName(store, name)
      const record = await table.update(path.uuid, ({ endpoint: old, ...current }) => ({
        ...current,
        ...(name !== undefined && { name }),
        ...(project_id !== undefined && { project_id }),
        ...(tags && { tags }),
        ...(endpoint === undefined ? old && { endpoint: old } : endpoint && { endpoint }),
        updated_at: timestamp(clock),
      }))
      if (JSON.stringify(record.endpoint) !== JSON.stringify(before.endpoint))
        note('The model has changed: start an indexing job to embed everything with the new one.')
      return { knowledge_base: await asKnowledgeBase(store, record) }
    })

    on(knowledgeBases.delete, async ({ path }) => {
      await find(path.uuid)
      await table.update(path.uuid, (current) => ({ ...current, deleting: true }))
      return { uuid: path.uuid }
    })

    kernel.reconcile(knowledgeBaseRecords, async ({ uuid, deleting }) => {
      if (!deleting) return {}
      const jobs = store.collection(indexingJobRecords)
      const sources = store.collection(dataSourceRecords)
      const where = { knowledge_base_uuid: uuid }
      for (const job of await jobs.list({ where })) {
        if (isOver(job.status)) await jobs.remove(job.uuid)
        else await jobs.update(job.uuid, (current) => ({ ...current, cancelling: true }))
      }
      for (const source of await sources.list({ where }))
        if (!source.deleting)
          await sources.update(source.uuid, (current) => ({ ...current, deleting: true }))
      if ((await jobs.count(where)) + (await sources.count(where)) > 0) return { again: patience }
      await knowledge.remove(uuid)
      return { remove: true }
    })

    serveDataSources(on, kernel, knowledge)
    serveUploads(on, kernel)
    const endpoint = knowledgeEndpoint({
      authenticate: kernel.authenticate,
      retrieve: createRetrieve(store, knowledge),
      version,
      report: (error) =>
        kernel.log.error('A search failed inside Cove.', {
          cause: error instanceof Error ? error.stack : String(error),
        }),
    })
    for (const [path, handler] of Object.entries(endpoint)) kernel.route(path, handler)
    kernel.report('knowledge bases', () => ({ state: 'running', enforced: true }))
    kernel.onStop(() => knowledge.close())
  }

const checkName = async (store: Store, name: string) => {
  if (await store.collection(knowledgeBaseRecords).find({ name, deleting: false }))
    throw ApiError.conflict(`There is a knowledge base named "${name}" already.`)
}

/** An endpoint makes the server send requests, and a key from its environment with them. */
const checkEndpoint = (token: Token, endpoint: EmbeddingEndpoint | undefined) => {
  if (endpoint && !token.scopes.includes('*'))
    throw ApiError.forbidden("Only the owner's token may set embedding_endpoint.")
}

const asKnowledgeBase = async (store: Store, record: KnowledgeBaseRecord) => {
  const { endpoint, deleting: _, ...shown } = record
  const [job] = await store
    .collection(indexingJobRecords)
    .list({ where: { knowledge_base_uuid: record.uuid }, newestFirst: true, limit: 1 })
  return {
    ...shown,
    database_id: record.uuid,
    user_id: '0',
    is_public: false,
    embedding_model_uuid: endpoint ? '' : builtInModel.uuid,
    ...(endpoint && { embedding_endpoint: endpoint }),
    ...(job && { last_indexing_job: asJob(job) }),
  }
}
