#!/usr/bin/env node
'use strict'
// The launcher. An assistant waits for `cove mcp`, so that command has a bundle of its own, in the
// module format that Node starts fastest.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const dist = join(__dirname, '..', 'dist')

if (!existsSync(join(dist, 'catalogue.json'))) {
  const { spawnSync } = require('node:child_process')
  const setup = join(__dirname, '..', 'scripts', 'setup.mjs')
  // Standard output belongs to the protocol.
  const { status } = spawnSync(process.execPath, [setup, 'start'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(status ?? 1)
}

if (process.argv[2] === 'mcp') require(join(dist, 'mcp.cjs'))
else import(join(dist, 'cli.js'))
