import { z } from 'zod'
import { script } from '#mcp/tool.ts'
import { deploymentGuide } from './guide.ts'

export const guideTools = {
  'functions-deployment-guide': script({
    title: 'Guide to deploying a project',
    about:
      'Read how to deploy a project of several files, dependencies or a build step from the command line; not for single functions.',
    args: {},
    effect: 'read',
    returns: z.object({ guide: z.string() }),
    run: async () => ({ guide: deploymentGuide }),
  }),
}
