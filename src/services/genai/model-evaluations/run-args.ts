import { z } from 'zod'
import { anyText, object, text, texts } from '#mcp/args.ts'

/** Arguments that both tools which start a model evaluation have. */
export const runArgs = {
  candidate_model_name: text('Exact name, or router:<name>; part of a name returns matches'),
  candidate_model_uuid: text('Candidate UUID').optional(),
  judge_model_uuid: text('Judge UUID').optional(),
  metric_uuids: texts('None means all').optional(),
  candidate_inference_config: object(
    'How it answers',
    {
      max_tokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(2).optional(),
      top_p: z.number().min(0).max(1).optional(),
      system_prompt: z.string().min(1).optional(),
      stop_token: z.string().min(1).optional(),
    },
    ['max_tokens', 'temperature', 'top_p'],
  ).optional(),
  user_message: anyText("The user's reply, word for word; leave out at first").optional(),
}
