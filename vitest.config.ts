import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    isolate: false,
    // Servers, sandboxes and browsers share two cores here: what fails twice is wrong, not slow.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
