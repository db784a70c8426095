import { type Context, type Handler, isObject, type JsonObject, RpcError } from '#mcp/protocol.ts'
import { embedded, form, image, text } from './content.ts'

interface Prompt {
  description: string
  arguments?: string[]
  render(args: JsonObject, context: Context): unknown[] | Promise<unknown[]>
}

const prompts: Record<string, Prompt> = {
  test_simple_prompt: {
    description: 'One message.',
    render: () => [text('This is a simple prompt for testing.')],
  },
  test_prompt_with_arguments: {
    description: 'Repeats its arguments.',
    arguments: ['arg1', 'arg2'],
    render: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    description: 'Brings a resource.',
    arguments: ['resourceUri'],
    render: ({ resourceUri }) => [
      embedded(String(resourceUri), 'text/plain', 'Embedded resource content for testing.'),
      text('Please read the resource.'),
    ],
  },
  test_prompt_with_image: {
    description: 'Brings an image.',
    render: () => [image, text('Please look at the image.')],
  },
  test_input_required_result_prompt: {
    description: 'Asks what it is about.',
    render: async (_, { elicit }) => {
      const { content } = await elicit('What is it about?', form('context'))
      return [text(`It is about ${content?.context}.`)]
    },
  },
}

export const promptMethods: Record<string, Handler> = {
  'prompts/list': () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: prompt.description,
      arguments: prompt.arguments?.map((argument) => ({ name: argument, required: true })),
    })),
  }),
  'prompts/get': async ({ name, arguments: args }, context) => {
    const prompt = prompts[String(name)]
    if (!prompt) throw new RpcError('invalidParams', `There is no prompt "${name}".`)
    const contents = await prompt.render(isObject(args) ? args : {}, context)
    return { messages: contents.map((content) => ({ role: 'user', content })) }
  },
  'completion/complete': () => ({ completion: { values: [], total: 0, hasMore: false } }),
  'logging/setLevel': () => ({}),
}
