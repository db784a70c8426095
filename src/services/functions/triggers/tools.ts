import { ApiError } from '#core/error.ts'
import { anyObject, flag, text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { NamespaceID } from '../arguments.ts'
import { triggers } from './contract.ts'

const TriggerName = text('Trigger name')
const Cron = text('UTC, such as */5 * * * *')
const Body = anyObject('Payload of each run')

const named = (a: { NamespaceID: string; TriggerName: string }) => ({
  path: { namespace_id: a.NamespaceID, trigger_name: a.TriggerName },
})

export const triggerTools = {
  'functions-list-triggers': call(triggers.list, {
    title: 'List triggers',
    about: "List a namespace's scheduled triggers.",
    args: { NamespaceID },
    request: (a) => ({ path: { namespace_id: a.NamespaceID } }),
  }),

  'functions-get-trigger': call(triggers.get, {
    title: 'Get trigger',
    about: 'Get a trigger with its schedule, last run and next run.',
    args: { NamespaceID, TriggerName },
    request: named,
  }),

  'functions-create-trigger': call(triggers.create, {
    title: 'Create trigger',
    about: 'Run a function on a schedule.',
    args: {
      NamespaceID,
      Name: text('Name, such as nightly'),
      Function: text('Such as hello or tools/hello'),
      Cron,
      IsEnabled: flag('Whether it fires').default(true),
      Body: Body.optional(),
    },
    request: (a) => ({
      path: { namespace_id: a.NamespaceID },
      body: {
        name: a.Name,
        function: a.Function,
        type: 'SCHEDULED',
        is_enabled: a.IsEnabled,
        scheduled_details: { cron: a.Cron, ...(a.Body ? { body: a.Body } : {}) },
      },
    }),
  }),

  'functions-update-trigger': script({
    title: 'Update trigger',
    about: 'Change schedule or payload of a trigger, or switch it on or off.',
    args: {
      NamespaceID,
      TriggerName,
      IsEnabled: flag('Whether it fires').optional(),
      Cron: Cron.optional(),
      Body: Body.optional(),
    },
    effect: 'change',
    uses: [triggers.get, triggers.update],
    returns: triggers.update.returns,
    run: async (a, { api }) => {
      if (a.IsEnabled === undefined && a.Cron === undefined && a.Body === undefined)
        throw ApiError.invalid('Give at least one of IsEnabled, Cron and Body.')
      const details = a.Cron !== undefined || a.Body !== undefined
      // The API takes cron and body together, so the one that is not given stays as it is.
      const current = details ? (await api(triggers.get, named(a))).trigger.scheduled_details : null
      const body = a.Body ?? current?.body
      return api(triggers.update, {
        ...named(a),
        body: {
          ...(a.IsEnabled === undefined ? {} : { is_enabled: a.IsEnabled }),
          ...(current
            ? { scheduled_details: { cron: a.Cron ?? current.cron, ...(body ? { body } : {}) } }
            : {}),
        },
      })
    },
  }),

  'functions-delete-trigger': call(triggers.delete, {
    title: 'Delete trigger',
    about: 'Delete a trigger; it no longer fires.',
    args: { NamespaceID, TriggerName },
    request: named,
  }),
}
