/** A kind of work that routers know by name. */
export interface Task {
  readonly name: string
  readonly category: string
  readonly description: string
  readonly tags: readonly string[]
  /** What matters most when several models can do it. */
  readonly prefer: 'fastest' | 'cheapest' | 'none'
  /** Tokens of context below which a model is not suggested. */
  readonly context?: number
}

const group =
  (category: string) =>
  (
    name: string,
    description: string,
    tags: readonly string[],
    more: Partial<Pick<Task, 'prefer' | 'context'>> = {},
  ): Task => ({ name, category, description, tags, prefer: 'none', ...more })

const general = group('General')
const writing = group('Writing')
const software = group('Software engineering')
const documents = group('Knowledge base and document intelligence')

const catalogue = {
  'brainstorming-ideation': general(
    'Brainstorming and ideation',
    'Come up with many ideas, names, angles, features, themes or possibilities for an open question.',
    ['creative', 'ideas'],
  ),
  'classification-labeling': general(
    'Classification and labeling',
    'Assign a text one label from a given set of categories: sentiment, intent, topic, priority, spam or language.',
    ['structured', 'short-output'],
    { prefer: 'cheapest' },
  ),
  'opinion-advice-recommendation': general(
    'Opinion, advice and recommendation',
    'Weigh choices and tell someone what to do, buy, prefer or avoid, with reasons for the recommendation.',
    ['judgement'],
  ),
  'planning-task-decomposition': general(
    'Planning and task decomposition',
    'Break a goal into steps, milestones, schedules, dependencies or a checklist in a sensible order.',
    ['planning', 'agents'],
  ),
  summarization: general(
    'Summarization',
    'Condense a text, thread, transcript or report into its main points, a brief abstract or key takeaways.',
    ['condense'],
    { prefer: 'cheapest' },
  ),
  'text-extraction-structured-output': general(
    'Text extraction and structured output',
    'Pull named fields, entities, dates or amounts out of a text and return them as JSON, CSV or a table.',
    ['structured', 'json'],
    { prefer: 'cheapest' },
  ),
  translation: general(
    'Translation',
    'Render a text in another human language while keeping its meaning, tone and formatting.',
    ['languages'],
    { prefer: 'fastest' },
  ),
  'creative-writing': writing(
    'Creative writing',
    'Write fiction, poems, lyrics, dialogue, scenes or characters.',
    ['creative'],
  ),
  'email-professional-communication-drafting': writing(
    'Email and professional communication drafting',
    'Draft an email, reply, letter, announcement or message to a colleague, client, manager or applicant.',
    ['business'],
    { prefer: 'fastest' },
  ),
  'long-form-article-blog-writing': writing(
    'Long-form article and blog writing',
    'Write a blog post, article, essay, guide or white paper with headings and several sections.',
    ['long-output'],
  ),
  'rewriting-editing': writing(
    'Rewriting and editing',
    'Improve an existing text: fix grammar, change the tone, shorten, paraphrase, polish or simplify it.',
    ['editing'],
    { prefer: 'fastest' },
  ),
  'social-media-short-form-content': writing(
    'Social media and short-form content',
    'Write posts, tweets, captions, hashtags, headlines, taglines or ad copy of a few lines.',
    ['marketing', 'short-output'],
    { prefer: 'fastest' },
  ),
  'bug-fixing': software(
    'Bug fixing',
    'Find out why code fails, explain an error, exception or stack trace, and give the corrected code.',
    ['code', 'debugging'],
  ),
  'code-completion-inline': software(
    'Inline code completion',
    'Continue unfinished code at the cursor or fill in the missing part, and return only the code.',
    ['code', 'low-latency'],
    { prefer: 'fastest' },
  ),
  'code-generation': software(
    'Code generation',
    'Write a new function, class, script, component, query or program from a description.',
    ['code'],
  ),
  'code-performance-optimization': software(
    'Code performance optimization',
    'Make working code faster or smaller: complexity, memory, profiling, caching, slow queries.',
    ['code', 'performance'],
  ),
  'test-writing-code-verification': software(
    'Test writing and code verification',
    'Write unit, integration or property tests for code, cover edge cases, or check that code is correct.',
    ['code', 'tests'],
  ),
  'knowledge-base-customer-support': documents(
    'Knowledge base customer support',
    'Answer a customer about a product, order, account, refund or setting from help articles and policy.',
    ['support', 'rag'],
    { prefer: 'fastest' },
  ),
  'long-context-retrieval-aggregation': documents(
    'Long-context retrieval and aggregation',
    'Search many or very long documents and combine every occurrence found across them into one answer.',
    ['long-context', 'aggregate'],
    { context: 64_000 },
  ),
  'long-document-qa': documents(
    'Long document question answering',
    'Answer a question about one long contract, report, manual, paper or book, pointing to the place.',
    ['long-context', 'qa'],
    { context: 32_000 },
  ),
  'rag-system-quality-evaluation': documents(
    'RAG system quality evaluation',
    'Judge an answer of a retrieval-augmented system: faithfulness to the context, relevance, hallucination, a score.',
    ['evaluation', 'rag'],
  ),
  'retrieval-quality-cross-domain-ir': documents(
    'Retrieval quality and cross-domain IR',
    'Judge or improve search results: relevance of passages to a query, reranking, query expansion across domains.',
    ['search', 'ranking'],
  ),
  'text-and-table-grounded-reasoning': documents(
    'Text and table grounded reasoning',
    'Reason and calculate over a given table together with text: totals, differences, growth, comparisons.',
    ['tables', 'numbers'],
  ),
} satisfies Record<string, Task>

export type TaskSlug = keyof typeof catalogue

export const tasks: Record<TaskSlug, Task> = catalogue

export const taskSlugs = Object.keys(catalogue) as TaskSlug[]

export const isTaskSlug = (slug: string): slug is TaskSlug => Object.hasOwn(catalogue, slug)

/** The known slugs that a misspelt one may have meant, nearest first. */
export const nearTasks = (slug: string, most = 3): TaskSlug[] => {
  const wanted = trigrams(slug)
  const order = taskSlugs
    .map((known) => ({ known, likeness: dice(wanted, trigrams(known)) }))
    .sort((a, b) => b.likeness - a.likeness)
  const least = Math.max(0.25, 0.7 * (order[0]?.likeness ?? 0))
  return order
    .filter(({ likeness }) => likeness >= least)
    .slice(0, most)
    .map(({ known }) => known)
}

const trigrams = (text: string): Set<string> => {
  const padded = ` ${text.toLowerCase().replace(/[^a-z]+/g, ' ')} `
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)))
}

const dice = (a: Set<string>, b: Set<string>): number => {
  let shared = 0
  for (const part of a) if (b.has(part)) shared++
  return (2 * shared) / (a.size + b.size)
}
