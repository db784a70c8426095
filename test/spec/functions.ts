import {
  type Arguments,
  all,
  anything,
  between,
  flag,
  like,
  listOf,
  must,
  number,
  object,
  objectOf,
  or,
  text,
  texts,
} from './words.ts'

const NamespaceID = must(text)
const range = { Limit: or(between(0, 200), 30), Skip: number }
const pairs = listOf({ key: text, value: anything })
const ofAction = { NamespaceID, ActionName: must(text), PackageName: text }
const ofPackage = { NamespaceID, PackageName: must(text) }
const ofTrigger = { NamespaceID, TriggerName: must(text) }
const ofActivation = { NamespaceID, ActivationID: must(text) }

export const functions: Record<string, Arguments> = {
  'functions-list-namespaces': {},
  'functions-get-namespace': { NamespaceID },
  'functions-create-namespace': all(must(text), 'Label', 'Region'),
  'functions-delete-namespace': { NamespaceID },
  'functions-list-access-keys': { NamespaceID },
  'functions-create-access-key': { NamespaceID, Name: must(text), ExpiresIn: like('24h', '7d') },
  'functions-delete-access-key': { NamespaceID, KeyID: must(text) },
  'functions-list-actions': { NamespaceID, ...range },
  'functions-get-action': { ...ofAction, IncludeCode: or(flag, false) },
  'functions-create-or-update-action': {
    ...ofAction,
    Kind: like('nodejs:20', 'python:3.11', 'go:default', 'php:default', 'blackbox', 'sequence'),
    ...all(text, 'Code', 'Image', 'Main'),
    Components: texts,
    Timeout: or(number, 60_000),
    Memory: or(number, 256),
    Logs: or(number, 10),
    Annotations: pairs,
    Parameters: pairs,
  },
  'functions-delete-action': ofAction,
  'functions-invoke-action': {
    ...ofAction,
    Blocking: or(flag, true),
    Result: or(flag, false),
    InvokeTimeout: { type: 'number', max: 60_000, default: 60_000 },
    Payload: object,
  },
  'functions-list-packages': { NamespaceID, ...range, Public: flag },
  'functions-get-package': ofPackage,
  'functions-create-or-update-package': {
    ...ofPackage,
    Publish: flag,
    Annotations: pairs,
    Parameters: pairs,
    Binding: objectOf({ namespace: text, name: text }),
  },
  'functions-delete-package': { ...ofPackage, Force: or(flag, false) },
  'functions-list-triggers': { NamespaceID },
  'functions-get-trigger': ofTrigger,
  'functions-create-trigger': {
    NamespaceID,
    ...all(must(text), 'Name', 'Function', 'Cron'),
    IsEnabled: or(flag, true),
    Body: object,
  },
  'functions-update-trigger': { ...ofTrigger, IsEnabled: flag, Cron: text, Body: object },
  'functions-delete-trigger': ofTrigger,
  'functions-list-activations': {
    NamespaceID,
    FunctionName: text,
    ...range,
    Since: number,
    Upto: number,
    IncludeDocs: flag,
  },
  'functions-get-activation': ofActivation,
  'functions-get-activation-logs': ofActivation,
  'functions-get-activation-result': ofActivation,
  'functions-deployment-guide': {},
}
