import { z } from 'zod'
import { script } from '#mcp/tool.ts'
import { deploymentGuide } from './guide.ts'

export const guideTools = {
  'functions-deployment-guide': script({
    title: 'Guide to deploying a project',
    about:
      'Read first to deploy a project with several files, dependencies or a build; not for a single source.',
    args: {},
    effect: 'read',
    returns: z.object({ guide: z.string() }),
    run: async () => ({ guide: deploymentGuide }),
  }),
}
