import type { Agent, StoredAgent } from './contract.ts'

/** An agent as the API shows it. */
export const shownAgent = ({ deployment_name: _name, ...agent }: StoredAgent): Agent => agent
