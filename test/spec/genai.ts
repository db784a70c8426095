import {
  type Argument,
  type Arguments,
  all,
  flag,
  jsonText,
  must,
  number,
  object,
  objectOf,
  oneOf,
  or,
  text,
  texts,
} from './words.ts'

const UUID = must(text)
const routerPaging = {
  Page: or(number, 1),
  PerPage: { type: 'number', max: 1000, default: 1000 } as Argument,
}

export const routers: Record<string, Arguments> = {
  'genai-inference-router-create': {
    Name: must(text),
    PoliciesJson: jsonText,
    FallbackModels: { type: 'string[]', minItems: 1, required: true },
  },
  'genai-inference-router-list': routerPaging,
  'genai-inference-router-get': { UUID },
  'genai-inference-router-update': {
    UUID,
    ...all(text, 'Name', 'Description'),
    PoliciesJson: jsonText,
    FallbackModels: texts,
  },
  'genai-inference-router-delete': { UUID },
  'genai-inference-router-task-presets': routerPaging,
}

const workspace = all(text, 'workspace_uuid', 'agent_workspace_name')
const timing = { timeout_seconds: or(number, 300), poll_interval_seconds: or(number, 5) }
const inference = objectOf(all(number, 'max_tokens', 'temperature', 'top_p'))
const pages = all(number, 'page', 'per_page')
const runUuid = { eval_run_uuid: must(text) }
const confirm_deletion = must(flag)
const candidate = { candidate_model_name: must(text), candidate_model_uuid: text }

export const evaluation: Record<string, Arguments> = {
  'genai-list-evaluation-metrics': {},
  'genai-list-evaluation-test-cases': workspace,
  'genai-create-evaluation-dataset': all(must(text), 'name', 'file_path'),
  'genai-create-evaluation-test-case': {
    name: must(text),
    description: text,
    dataset_uuid: must(text),
    metrics: texts,
    ...workspace,
  },
  'genai-update-evaluation-test-case': {
    test_case_uuid: must(text),
    ...all(text, 'name', 'description', 'dataset_uuid'),
    metrics: texts,
  },
  'genai-run-evaluation-test-case': {
    test_case_uuid: must(text),
    agent_deployment_names: must(texts),
    run_name: must(text),
  },
  'genai-get-evaluation-run': { evaluation_run_uuid: must(text) },
  'genai-run-evaluation-workflow': {
    ...all(must(text), 'dataset_file_path', 'workspace_name', 'test_case_name', 'run_name'),
    agent_deployment_names: must(texts),
    description: text,
    metric_categories: {
      type: 'string[]',
      values: [
        'METRIC_CATEGORY_CORRECTNESS',
        'METRIC_CATEGORY_USER_OUTCOMES',
        'METRIC_CATEGORY_SAFETY_AND_SECURITY',
        'METRIC_CATEGORY_CONTEXT_QUALITY',
        'METRIC_CATEGORY_MODEL_FIT',
      ],
    },
    ...timing,
  },
  'genai-model-eval-list-metrics': {},
  'genai-model-eval-list-datasets': {
    dataset_type: or(
      oneOf(
        'EVALUATION_DATASET_TYPE_MODEL',
        'EVALUATION_DATASET_TYPE_UNKNOWN',
        'EVALUATION_DATASET_TYPE_ADK',
        'EVALUATION_DATASET_TYPE_NON_ADK',
      ),
      'EVALUATION_DATASET_TYPE_MODEL',
    ),
  },
  'genai-model-eval-create-dataset': all(must(text), 'name', 'file_path'),
  'genai-model-eval-create-run': {
    name: must(text),
    ...candidate,
    ...all(text, 'eval_preset_uuid', 'dataset_uuid', 'judge_model_name', 'judge_model_uuid'),
    metric_uuids: texts,
    star_metric: object,
    candidate_inference_config: inference,
    user_message: text,
  },
  'genai-model-eval-list-runs': {
    status: oneOf(
      'QUEUED',
      'RUNNING_DATASET',
      'EVALUATING_RESULTS',
      'CANCELLING',
      'CANCELLED',
      'SUCCESSFUL',
      'PARTIALLY_SUCCESSFUL',
      'FAILED',
    ),
    ...pages,
  },
  'genai-model-eval-get-run': { ...runUuid, ...pages },
  'genai-model-eval-get-results-download-url': runUuid,
  'genai-model-eval-delete-run': { ...runUuid, confirm_deletion },
  'genai-model-eval-cancel-run': { ...runUuid, confirm_cancel: must(flag) },
  'genai-model-eval-delete-preset': { eval_preset_uuid: must(text), confirm_deletion },
  'genai-model-eval-delete-dataset': { dataset_uuid: must(text), confirm_deletion },
  'genai-model-eval-run-workflow': {
    ...all(must(text), 'dataset_file_path', 'name', 'judge_model_name'),
    ...candidate,
    judge_model_uuid: text,
    metric_uuids: texts,
    candidate_inference_config: inference,
    ...timing,
    user_message: text,
  },
}
