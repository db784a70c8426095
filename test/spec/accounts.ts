import { type Arguments, all, must, number, paging, text } from './words.ts'

export const accounts: Record<string, Arguments> = {
  'action-get': { ID: must(number) },
  'action-list': paging(30),
  'balance-get': {},
  'billing-history-list': paging(30),
  'invoice-list': paging(30),
  'key-create': all(must(text), 'Name', 'PublicKey'),
  'key-delete': { ID: must(number) },
  'key-get': { ID: must(number) },
  'key-list': paging(30),
  'account-get-information': {},
}
