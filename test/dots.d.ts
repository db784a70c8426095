import type { AuthenticationProvider } from '@microsoft/kiota-abstractions'

/** The package ships sources that do not pass this project's checks; these are the parts in use. */
type Answer = Promise<Record<string, unknown>>

interface Reads {
  get(): Answer
}

interface One extends Reads {
  delete(): Promise<void>
}

interface Many extends Reads {
  post(body: Record<string, unknown>): Answer
}

interface Client {
  v2: {
    account: Reads & { keys: Many & { bySsh_key_identifier(id: number): One } }
    actions: Reads
    regions: Reads
    tags: Many & { byTag_id(name: string): One }
  }
}

export declare const createDigitalOceanClient: (adapter: unknown) => Client
export declare const DigitalOceanApiKeyAuthenticationProvider: new (
  token: string,
) => AuthenticationProvider
