import { anyText, decimal, int, object, text, texts } from '#mcp/args.ts'

/** Arguments that both tools which start a model evaluation have. */
export const runArgs = {
  candidate_model_name: text(
    'Exact name of the model, or router:<name>; a part of a name returns the matches',
  ),
  candidate_model_uuid: text('UUID of the candidate model').optional(),
  judge_model_uuid: text('UUID of the judge model').optional(),
  metric_uuids: texts('UUIDs of metrics; none means all').optional(),
  candidate_inference_config: object('How the candidate answers', {
    max_tokens: int('Longest answer in tokens', 1).optional(),
    temperature: decimal('Sampling temperature', 0, 2).optional(),
    top_p: decimal('Nucleus sampling', 0, 1).optional(),
    system_prompt: text('System prompt').optional(),
    stop_token: text('Text that ends the answer').optional(),
  }).optional(),
  user_message: anyText(
    "The user's reply to prompt_for_user, word for word; leave out at first",
  ).optional(),
}
