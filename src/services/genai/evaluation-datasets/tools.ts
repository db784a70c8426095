import { flag, text } from '#mcp/args.ts'
import { call, script } from '#mcp/tool.ts'
import { confirmed, prefixedChoice } from '../arguments.ts'
import { failing, named } from '../steps.ts'
import { datasets, datasetTypes } from './contract.ts'
import { checkFile, uploadDataset, uploadOperations } from './upload.ts'

const name = text('Such as support-questions')

export const datasetTools = {
  'genai-create-evaluation-dataset': script({
    title: 'Create agent dataset',
    about: 'Upload a .csv file whose query column holds JSON objects, for agent evaluation.',
    args: { name, file_path: text('Such as /data/questions.csv') },
    effect: 'create',
    uses: uploadOperations,
    run: (a, context) =>
      failing('create evaluation dataset', async () => {
        const file = await checkFile(a.file_path, 'agent')
        const { dataset_uuid } = await uploadDataset(context, file, { name: a.name, use: 'agent' })
        return { dataset_uuid, name: a.name, file_size: file.size }
      }),
  }),

  'genai-model-eval-create-dataset': script({
    title: 'Create model dataset',
    about: 'Upload a .csv or .jsonl file with input (and ground_truth), for model evaluation.',
    args: { name, file_path: text('Such as /data/qa.jsonl') },
    effect: 'create',
    uses: uploadOperations,
    run: (a, context) =>
      failing('create evaluation dataset', async () => {
        const file = await checkFile(a.file_path, 'model')
        const made = await uploadDataset(context, file, { name: a.name, use: 'model' })
        return {
          evaluation_dataset_uuid: made.dataset_uuid,
          ...made,
          name: a.name,
          file_name: file.name,
          file_size: file.size,
        }
      }),
  }),

  'genai-model-eval-list-datasets': named(
    'list evaluation datasets',
    call(datasets.list, {
      title: 'List evaluation datasets',
      about: 'List evaluation datasets of one type.',
      args: {
        dataset_type: prefixedChoice('Only this type', 'EVALUATION_DATASET_TYPE_', datasetTypes)
          .optional()
          .default('EVALUATION_DATASET_TYPE_MODEL'),
      },
      request: (a) => ({ query: { dataset_type: a.dataset_type } }),
      result: ({ evaluation_datasets, ...rest }) => ({
        datasets: evaluation_datasets,
        count: evaluation_datasets.length,
        ...rest,
      }),
    }),
  ),

  'genai-model-eval-delete-dataset': named(
    'delete evaluation dataset',
    call(datasets.delete, {
      title: 'Delete evaluation dataset',
      about: 'Delete a dataset of either kind for good.',
      args: {
        dataset_uuid: text('Dataset UUID'),
        confirm_deletion: flag('true once the user agreed'),
      },
      request: (a) => {
        confirmed('confirm_deletion', a.confirm_deletion)
        return { path: { dataset_uuid: a.dataset_uuid } }
      },
      result: (_answer, a) => ({ dataset_uuid: a.dataset_uuid, status: 'deleted' }),
    }),
  ),
}
