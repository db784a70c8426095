import { afterAll, describe, expect, test } from 'vitest'
import { assistant } from './assistant.ts'
import { calls } from './calls.ts'
import type { Style } from './sample.ts'

const styles: Style[] = ['full', 'bare', 'odd']

describe.each(styles)('when the cloud answers in %s', async (style) => {
  const { call, asked, wrong, close } = await assistant({ style })
  afterAll(close)

  test.each(calls)('%s works', async (tool, args) => {
    asked.length = 0
    wrong.length = 0
    const { failed, text, value } = await call(tool, args)
    expect(failed ? text : '').toBe('')
    expect(wrong).toEqual([])
    expect(JSON.parse(text)).toEqual(value)
  })
})
