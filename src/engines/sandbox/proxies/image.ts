/**
 * Stands between the line protocol and an image that serves `/init` and `/run` on port 8080.
 * It runs beside the image, in the image's network and outside its files.
 */
export const imageProxy = String.raw`'use strict'
const fs = require('node:fs')
const http = require('node:http')
const readline = require('node:readline')

const say = (text) => fs.writeSync(3, text + '\n')
const fault = (message) => say('!' + JSON.stringify(message))
const agent = new http.Agent({ keepAlive: true })

const post = (path, body) =>
  new Promise((resolve, reject) => {
    const request = http.request(
      { agent, host: '127.0.0.1', port: 8080, path, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        const parts = []
        response.on('data', (part) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }))
      },
    )
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })

/** The image takes a moment to listen. */
const patiently = async (path, body) => {
  for (;;) {
    try {
      return await post(path, body)
    } catch (error) {
      if (error.code !== 'ECONNREFUSED') throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

const errorOf = (text) => {
  try {
    return String(JSON.parse(text).error)
  } catch {
    return text
  }
}

const take = async (message) => {
  const { status, text } = message.init
    ? await patiently('/init', { value: message.init })
    : await post('/run', message)
  if (status !== 200) return fault((message.init ? 'Initialization has failed due to: ' : 'An error has occurred: ') + errorOf(text))
  if (message.init) return say('{"ok":true}')
  let value
  try {
    value = JSON.parse(text)
  } catch {
    return fault('The action did not return a dictionary or array.')
  }
  if (typeof value !== 'object' || value === null) return fault('The action did not return a dictionary or array.')
  say(JSON.stringify(value))
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  take(JSON.parse(line)).catch((error) => {
    fault('An error has occurred: ' + error.message)
    process.exit(1)
  })
}).on('close', () => process.exit(0))
`
