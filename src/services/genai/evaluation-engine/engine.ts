import { setMaxListeners } from 'node:events'
import { messageOf } from '#core/error.ts'
import { timestamp } from '#platform/clock.ts'
import type { Reconcile } from '#platform/reconcile.ts'
import type { Service } from '#platform/service.ts'
import {
  answerRecords,
  isFinal,
  type RunRecord,
  runRecords,
  stageOf,
} from '../evaluation-runs/record.ts'
import { type ModelRecord, modelRecords } from '../models/contract.ts'
import { answerRows } from './answering.ts'
import type { EngineParts, Work } from './bench.ts'
import { CapReached, createBudget, type Price } from './budget.ts'
import type { JudgeHabits } from './judge.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { outcomeOf } from './outcome.ts'
import { allRowResults } from './results.ts'
import { scoreAnswers } from './scoring.ts'
import { GivenUp } from './stop.ts'
import { summarise } from './summary.ts'
import { createWriter } from './writer.ts'

/** What a model costs, and takes at once. */
type Terms = Price & Pick<ModelRecord, 'max_concurrency'>

/** ms between looks at whether a run was cancelled: by another process too. */
const watchEvery = 250

/**
 * Brings evaluation runs about. A run is worked on by one process at a time, under a lease; each
 * answer and each score is written once, when it is there, so whoever takes over goes on from there.
 */
export const evaluationEngine =
  (given: Omit<EngineParts, 'store' | 'clock'>): Service =>
  (_on, kernel) => {
    const { store, clock } = kernel
    const parts: EngineParts = { ...given, store, clock }
    const runs = store.collection(runRecords)
    const limiters = new Map<string, Limiter>()
    const habits = new Map<string, JudgeHabits>()

    const limiterOf = (max: number, terms: Terms | undefined) => (target: string) => {
      const most = Math.min(max, terms?.max_concurrency ?? max)
      const key = `${most} ${target}`
      const limiter = limiters.get(key) ?? createLimiter(clock, most)
      limiters.set(key, limiter)
      return limiter
    }
    const habitsOf = (judge: string) => {
      const known = habits.get(judge) ?? { rung: 0 }
      habits.set(judge, known)
      return known
    }
    const termsOf = async (run: RunRecord): Promise<Terms> => {
      const { candidate, judge } = run
      const answers = candidate.kind === 'model' ? candidate.uuid : undefined
      const uuid = run.status === 'RUNNING_DATASET' ? answers : judge?.uuid
      const model = uuid && (await store.collection(modelRecords).get(uuid))
      return model || { price_in: null, price_out: null, max_concurrency: null }
    }
    const spentBefore = async (run: RunRecord) => {
      if (run.limits.max_cost_usd === undefined) return 0
      let spent = 0
      for await (const rows of allRowResults(store, run)) {
        for (const { answer, scores } of rows) {
          spent += answer.cost_usd + scores.reduce((sum, score) => sum + score.cost_usd, 0)
        }
      }
      return spent
    }

    /** Aborts the work when somebody asked for it to stop. */
    const watch = (uuid: string, abort: AbortController) => {
      let over = false
      const look = async () => {
        const run = await runs.get(uuid)
        if (!run || run.status === 'CANCELLING') abort.abort(new Error('The run was cancelled.'))
        else plan()
      }
      const plan = () => {
        if (!over) clock.later(watchEvery, () => void look().catch(plan))
      }
      plan()
      return () => {
        over = true
      }
    }

    const phase = async (run: RunRecord, outer: AbortSignal) => {
      const abort = new AbortController()
      const unwatch = watch(run.uuid, abort)
      const terms = await termsOf(run)
      const work: Work = {
        ...parts,
        run,
        signal: AbortSignal.any([outer, abort.signal]),
        commit: createWriter(store),
        budget: createBudget(run.limits.max_cost_usd, await spentBefore(run)),
        limiter: limiterOf(run.limits.max_parallel, terms),
      }
      // Every call listens to it, and there are many.
      setMaxListeners(0, work.signal)
      try {
        if (run.status === 'RUNNING_DATASET') await answerRows(work, terms)
        else await scoreAnswers(work, terms, habitsOf(run.judge?.name ?? ''))
        return 'done'
      } catch (error) {
        if (abort.signal.aborted && !outer.aborted) return 'cancelled'
        throw error
      } finally {
        unwatch()
      }
    }

    const finish = async (run: RunRecord, problem?: string) => {
      const summary = await summarise(store, run)
      const end =
        run.status === 'CANCELLING'
          ? { status: 'CANCELLED' as const }
          : outcomeOf(run, summary, problem)
      return {
        change: (current: RunRecord): RunRecord => ({
          ...current,
          ...end,
          summary,
          completed_at: timestamp(clock),
        }),
      }
    }

    const step: Reconcile<RunRecord> = async (run, { signal }) => {
      if (isFinal(run.status) || run.suspended !== undefined) return {}
      if (run.status === 'CANCELLING') return finish(run)
      const goOn = (change: Partial<RunRecord>) => ({
        change: (current: RunRecord) => ({ ...current, ...change }),
        again: 0,
      })
      if (run.status === 'QUEUED') {
        return goOn({ status: 'RUNNING_DATASET', started_at: timestamp(clock) })
      }
      try {
        // The record says that it is to be cancelled, so it is due again at once.
        if ((await phase(run, signal)) === 'cancelled') return {}
      } catch (error) {
        if (error instanceof CapReached) {
          kernel.log.warn(`Evaluation ${run.uuid} is suspended: ${messageOf(error)}`)
          return { change: (current) => ({ ...current, suspended: messageOf(error) }) }
        }
        if (!(error instanceof GivenUp)) throw error
        if (run.status === 'EVALUATING_RESULTS' || !(await anyAnswer(run))) {
          return finish(run, messageOf(error))
        }
        return goOn({ status: 'EVALUATING_RESULTS', error: messageOf(error) })
      }
      if (run.status === 'RUNNING_DATASET') return goOn({ status: 'EVALUATING_RESULTS' })
      return finish(run)
    }

    const anyAnswer = async (run: RunRecord) =>
      (await store.collection(answerRecords).count({ stage: stageOf(run.uuid, 'answered') })) > 0

    kernel.reconcile(runRecords, step)
    kernel.report('evaluations', () => ({ state: 'running', enforced: true }))
  }
