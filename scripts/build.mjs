// Bundles Cove into dist/. An assistant waits for our start, and one bundle starts much faster than
// many files.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole, buildProduct, buildStdio, root } from './bundles.mjs'

const dist = join(root, 'dist')
rmSync(dist, { recursive: true, force: true })
await buildProduct(dist)
await buildStdio(dist)
await buildConsole(join(dist, 'console'))
