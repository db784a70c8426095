import { setTimeout as wait } from 'node:timers/promises'
import { type Context, type Handler, isObject, type JsonObject, RpcError } from '#mcp/protocol.ts'
import { audio, embedded, form, image, text } from './content.ts'
import { choices, defaults } from './forms.ts'
import fullVocabulary from './full-vocabulary.json' with { type: 'json' }
import type { Subscriptions } from './subscriptions.ts'

type Call = (args: JsonObject, context: Context) => unknown[] | Promise<unknown[]>
interface Tool {
  description: string
  inputSchema?: JsonObject
  call: Call
}

const sample = (prompt: string, maxTokens = 100) => ({
  messages: [{ role: 'user', content: text(prompt) }],
  maxTokens,
})

const saying = (value: unknown) => [text(JSON.stringify(value))]

const log = (context: Context, data: string) => {
  const level = context.meta['io.modelcontextprotocol/logLevel']
  if (context.version < '2026-07-28' || level !== undefined)
    context.notify('notifications/message', { level: 'info', data })
}

const tools = (subscriptions: Subscriptions): Record<string, Tool> => ({
  test_simple_text: {
    description: 'Answers with a text.',
    call: () => [text('This is a simple text response for testing.')],
  },
  test_image_content: { description: 'Answers with an image.', call: () => [image] },
  test_audio_content: { description: 'Answers with a sound.', call: () => [audio] },
  test_embedded_resource: {
    description: 'Answers with a resource.',
    call: () => [
      embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ],
  },
  test_multiple_content_types: {
    description: 'Answers with a text, an image and a resource.',
    call: () => [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_tool_with_logging: {
    description: 'Logs three times on its way.',
    call: async (_, context) => {
      for (const step of ['started', 'goes on', 'completed']) {
        log(context, `Tool execution ${step}`)
        await wait(50)
      }
      return [text('Logged.')]
    },
  },
  test_logging_tool: {
    description: 'Logs once.',
    call: (_, context) => {
      log(context, 'Called.')
      return [text('Logged.')]
    },
  },
  test_tool_with_progress: {
    description: 'Tells how far it is three times.',
    call: async (_, context) => {
      for (const done of [0, 50, 100]) {
        context.progress(done, 100, `${done} of 100`)
        await wait(20)
      }
      return [text('Done.')]
    },
  },
  test_error_handling: {
    description: 'Fails.',
    call: () => {
      throw new Error('This tool intentionally returns an error for testing')
    },
  },
  test_sampling: {
    description: 'Asks the model of the client.',
    inputSchema: form('prompt'),
    call: async ({ prompt }, { ask }) =>
      saying(await ask('sampling/createMessage', sample(String(prompt)))),
  },
  test_missing_capability: {
    description: 'Needs a client with a model.',
    call: async (_, { ask }) =>
      saying(await ask('sampling/createMessage', sample('Say pong.', 16))),
  },
  test_elicitation: {
    description: 'Asks the person.',
    inputSchema: form('message'),
    call: async ({ message }, { elicit }) =>
      saying(await elicit(String(message), form('username'))),
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with a form that is filled in already.',
    call: async (_, { elicit }) => saying(await elicit('Please look this through', defaults)),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with a form of choices.',
    call: async (_, { elicit }) => saying(await elicit('Please choose', choices)),
  },
  test_streaming_elicitation: {
    description: 'Answers without a question of its own.',
    call: () => [text('No questions.')],
  },
  test_x_mcp_header: {
    description: 'Has a parameter that is repeated in a header.',
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        level: { type: 'integer' },
      },
    },
    call: ({ region }) => [text(`In ${region}.`)],
  },
  json_schema_2020_12_tool: {
    description: 'Has a schema with the full vocabulary.',
    inputSchema: fullVocabulary,
    call: saying,
  },
  test_input_required_result_elicitation: {
    description: 'Asks for a name.',
    call: async (_, { elicit }) => {
      const { content } = await elicit('What is your name?', form('name'), 'user_name')
      return [text(`Hello, ${content?.name}!`)]
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks a model for a capital.',
    call: async (_, { ask }) =>
      saying(await ask('sampling/createMessage', sample('What is the capital of France?'))),
  },
  test_input_required_result_list_roots: {
    description: 'Asks for the roots.',
    call: async (_, { ask }) => saying(await ask('roots/list', {})),
  },
  test_input_required_result_request_state: {
    description: 'Asks for a confirmation, with state.',
    call: async (_, { elicit }) => {
      const { content } = await elicit('Please confirm', form('ok', 'boolean'))
      return [text(`state-ok, confirmed: ${content?.ok}`)]
    },
  },
  test_input_required_result_tampered_state: {
    description: 'Asks for a confirmation, with state nobody may change.',
    call: async (_, { elicit }) => saying(await elicit('Please confirm', form('ok', 'boolean'))),
  },
  test_input_required_result_multiple_inputs: {
    description: 'Asks three things at once.',
    call: async (_, { elicit, ask }) =>
      saying(
        await Promise.all([
          elicit('What is your name?', form('name')),
          ask('sampling/createMessage', sample('Write a greeting.', 50)),
          ask('roots/list', {}),
        ]),
      ),
  },
  test_input_required_result_multi_round: {
    description: 'Asks two things, one after the other.',
    call: async (_, { elicit }) => {
      const first = await elicit('Step 1: what is your name?', form('name'))
      const second = await elicit('Step 2: what is your favourite colour?', form('color'))
      return saying([first, second])
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks only what the client can answer.',
    call: async (_, { client, canElicit, elicit, ask }) =>
      saying(
        await Promise.all([
          canElicit && elicit('What is your name?', form('name')),
          client.capabilities.sampling && ask('sampling/createMessage', sample('Greet.', 50)),
          client.capabilities.roots && ask('roots/list', {}),
        ]),
      ),
  },
  test_trigger_tool_change: {
    description: 'Tells subscribers that the tools changed.',
    call: () => {
      subscriptions.announce('toolsListChanged')
      return [text('Announced.')]
    },
  },
  test_trigger_prompt_change: {
    description: 'Tells subscribers that the prompts changed.',
    call: () => {
      subscriptions.announce('promptsListChanged')
      return [text('Announced.')]
    },
  },
})

/** The parameter of `test_x_mcp_header` that clients repeat in a header. */
export const mirrored = (method: string, params: JsonObject): Record<string, unknown> => {
  if (method !== 'tools/call' || params.name !== 'test_x_mcp_header') return {}
  return { 'Mcp-Param-Region': isObject(params.arguments) ? params.arguments.region : undefined }
}

export const toolMethods = (subscriptions: Subscriptions): Record<string, Handler> => {
  const known = tools(subscriptions)
  return {
    'tools/list': () => ({
      tools: Object.entries(known).map(([name, { description, inputSchema }]) => ({
        name,
        description,
        inputSchema: inputSchema ?? { type: 'object' },
      })),
    }),
    'tools/call': async ({ name, arguments: args }, context) => {
      const tool = known[String(name)]
      if (!tool) throw new RpcError('invalidParams', `There is no tool "${name}".`)
      try {
        return { content: await tool.call(isObject(args) ? args : {}, context) }
      } catch (error) {
        if (error instanceof RpcError) throw error
        return { isError: true, content: [text(String(error))] }
      }
    },
  }
}
