import { jsonrepair } from 'jsonrepair'
import { z } from 'zod'

/** What a judge must reply for a grade. */
const Grade = z.object({
  reasoning: z.string().default(''),
  score: z.coerce.number<number | string>().min(0).max(100),
})

/** What a judge must reply when it compares two answers. */
const Choice = z.object({
  reasoning: z.string().default(''),
  winner: z.preprocess(
    (value) => (typeof value === 'string' ? value.trim().toLowerCase() : value),
    z.enum(['a', 'b', 'tie']),
  ),
})

export type Grade = z.output<typeof Grade>
export type Choice = z.output<typeof Choice>

export interface Form<V> {
  schema: z.ZodType<V>
  /** The reply in words, for models that take no schema. */
  example: string
  json: Record<string, unknown>
}

const jsonForm = (name: string, value: Record<string, unknown>) => ({
  name,
  strict: true,
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['reasoning', name],
    properties: { reasoning: { type: 'string' }, [name]: value },
  },
})

export const gradeForm: Form<Grade> = {
  schema: Grade,
  example: '{"reasoning": "one or two sentences", "score": 0 to 100}',
  json: jsonForm('score', { type: 'integer', minimum: 0, maximum: 100 }),
}

export const choiceForm: Form<Choice> = {
  schema: Choice,
  example: '{"reasoning": "one or two sentences", "winner": "A", "B" or "tie"}',
  json: jsonForm('winner', { type: 'string', enum: ['A', 'B', 'tie'] }),
}

/** The verdict in a reply, or what is wrong with it. Fences, prose around it and slips are forgiven. */
export const readVerdict = <V>(
  reply: string,
  { schema }: Form<V>,
): { verdict: V } | { fault: string } => {
  if (reply.trim() === '') return { fault: 'the reply was empty' }
  const value = jsonIn(reply)
  if (value === undefined) return { fault: 'the reply held no JSON object' }
  const parsed = schema.safeParse(value)
  if (parsed.success) return { verdict: parsed.data }
  const [issue] = parsed.error.issues
  return { fault: `${issue?.path.join('.') || 'the reply'}: ${issue?.message}` }
}

const jsonIn = (reply: string): unknown => {
  const from = reply.indexOf('{')
  if (from < 0) return undefined
  const to = reply.lastIndexOf('}')
  const text = to > from ? reply.slice(from, to + 1) : reply.slice(from)
  for (const read of [JSON.parse, (text: string) => JSON.parse(jsonrepair(text))]) {
    try {
      const value: unknown = read(text)
      if (typeof value === 'object' && value !== null) return value
    } catch {
      // The next way of reading is more forgiving; after the last there is no verdict.
    }
  }
  return undefined
}
