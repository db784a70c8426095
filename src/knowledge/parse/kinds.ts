/** Kinds of document by the extension of their names; a file named like one (`Makefile`) counts as it. */
const kinds = {
  text: 'txt text log rst adoc tex org license readme',
  markdown: 'md markdown mdx',
  html: 'html htm xhtml',
  pdf: 'pdf',
  docx: 'docx',
  table: 'csv tsv',
  json: 'json',
  jsonLines: 'jsonl ndjson',
  code: `bash c cc cfg cjs clj cmake conf cpp cs css cts cxx dart dockerfile erl ex exs fish fs go gradle
    graphql groovy h hcl hpp hs ini java jl js jsx kt kts less lua m makefile mjs mk ml mts nix php pl
    pm proto ps1 py r rb rs sass scala scss sh sql svelte swift tf toml ts tsx vb vue yaml yml zig zsh`,
} as const

export type Kind = keyof typeof kinds

const byExtension = new Map(
  Object.entries(kinds).flatMap(([kind, extensions]) =>
    extensions.split(/\s+/).map((extension) => [extension, kind as Kind] as const),
  ),
)

export const kindOf = (name: string): Kind | undefined =>
  byExtension.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase())

/** Larger files are skipped: a document of this size is data, not something to read. */
export const mostBytes = 64 * 1024 * 1024
