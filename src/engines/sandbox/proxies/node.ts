/**
 * Inside the sandbox: takes the code on the first line, then one call a line (ActionLoop: requests
 * on fd 0, answers on fd 3, logs on 1 and 2). A line that starts with `!` is this proxy's own word
 * of a fault in the action; everything else is what the action answered.
 */
export const nodeProxy = String.raw`'use strict'
const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')
const { createRequire } = require('node:module')
const { pathToFileURL } = require('node:url')

const say = (text) => {
  const bytes = Buffer.from(text + '\n')
  for (let sent = 0; sent < bytes.length; ) sent += fs.writeSync(3, bytes, sent)
}
/** What was logged before an answer must be on its way before the answer. */
const logged = (stream) =>
  stream.writableLength === 0 ? undefined : new Promise((resolve) => stream.write('', resolve))
const flush = async () => {
  await logged(process.stdout)
  await logged(process.stderr)
}
const fault = (message) => say('!' + JSON.stringify(message))
const told = (error) => (error && error.stack) || String(error)

const scratch = process.env.TMPDIR || '/tmp'
let main
let running = false

const pick = (exported, name) => {
  const found = name.split('.').reduce((at, part) => (at == null ? undefined : at[part]), exported)
  if (typeof found === 'function') return found
  const inner = exported && exported.default
  if (inner && inner !== exported && name === 'main' && typeof inner === 'function') return inner
  return inner && inner !== exported ? pick(inner, name) : undefined
}

const isModuleSyntax = (error) =>
  error instanceof SyntaxError &&
  /Cannot use import statement|Unexpected token 'export'|import\.meta|await is only valid/.test(error.message)

const fromSource = async (code, name) => {
  const file = path.join(scratch, 'index.js')
  const module = { exports: {} }
  const tail = '\n;return typeof ' + name.split('.')[0] + " === 'undefined' ? undefined : " + name + '\n'
  let compiled
  try {
    compiled = vm.compileFunction(code + tail, ['exports', 'require', 'module', '__filename', '__dirname'], {
      filename: file,
      importModuleDynamically: vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  } catch (error) {
    if (!isModuleSyntax(error)) throw error
    const moduleFile = path.join(scratch, 'index.mjs')
    fs.writeFileSync(moduleFile, code)
    return pick(await import(pathToFileURL(moduleFile).href), name)
  }
  const value = compiled(module.exports, createRequire(file), module, file, scratch)
  return typeof value === 'function' ? value : pick(module.exports, name)
}

const fromFolder = async (dir, name) => {
  process.chdir(dir)
  const manifest = path.join(dir, 'package.json')
  const described = fs.existsSync(manifest) ? JSON.parse(fs.readFileSync(manifest, 'utf8')) : {}
  const entry = [described.main, 'index.js', 'index.mjs', 'index.cjs']
    .filter(Boolean)
    .map((file) => path.join(dir, file))
    .find((file) => fs.existsSync(file))
  if (!entry) throw new Error('the archive has neither package.json with main nor index.js')
  return pick(await import(pathToFileURL(entry).href), name)
}

const init = async ({ code, dir, main: name, env }) => {
  Object.assign(process.env, env)
  main = dir ? await fromFolder(dir, name) : await fromSource(code, name)
  if (typeof main !== 'function') throw new Error('the code has no function called ' + name)
}

const run = async ({ value, ...context }) => {
  for (const [key, text] of Object.entries(context))
    if (typeof text === 'string') process.env['__OW_' + key.toUpperCase()] = text
  let result
  try {
    result = main(value)
  } catch (error) {
    console.error(told(error))
    await flush()
    return fault('An error has occurred: ' + told(error))
  }
  try {
    result = await result
  } catch (error) {
    console.error(told(error))
    await flush()
    const reason = error instanceof Error ? error.message || String(error) : error
    return say(JSON.stringify({ error: reason === undefined ? {} : reason }))
  }
  await flush()
  if (result === undefined) result = {}
  if (typeof result !== 'object' || result === null)
    return fault('The action did not return a dictionary or array.')
  let text
  try {
    text = JSON.stringify(result)
  } catch (error) {
    return fault('The action returned what is not JSON: ' + error.message)
  }
  say(text)
}

process.on('uncaughtException', (error) => {
  console.error(told(error))
  if (running) fault('An error has occurred: ' + told(error))
  process.exit(1)
})
process.on('unhandledRejection', (error) => {
  console.error(told(error))
})

const take = async (line) => {
  running = true
  const message = JSON.parse(line)
  if (message.init) {
    await init(message.init).then(
      () => say('{"ok":true}'),
      (error) => fault('Initialization has failed due to: ' + told(error)),
    )
  } else await run(message)
  running = false
}

let parts = []
process.stdin.on('data', (chunk) => {
  let from = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
    parts.push(chunk.subarray(from, at))
    const line = Buffer.concat(parts).toString()
    parts = []
    from = at + 1
    take(line)
  }
  if (from < chunk.length) parts.push(chunk.subarray(from))
})
process.stdin.on('end', () => process.exit(0))
say('{"ok":true}')
`
