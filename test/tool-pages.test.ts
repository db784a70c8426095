import { expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { catalogue } from '#services/catalogue.ts'
import { toolPage } from './tool-pages.ts'

test.each(Object.entries(catalogue))('the page of %s is that of its tools', async (name, tools) => {
  await expect(toolPage(name, tools)).toMatchFileSnapshot(projectFile(`docs/tools/${name}.md`))
})
