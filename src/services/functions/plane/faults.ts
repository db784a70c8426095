import { ApiError } from '#core/error.ts'

/** Refusals that the data plane words in one way wherever they occur. */
export const faults = {
  missing: () => new ApiError(404, 'The requested resource does not exist.'),
  exists: () => ApiError.conflict('resource already exists'),
  otherCollection: () =>
    ApiError.conflict('Resource by this name exists but is not in this collection.'),
  notYours: (what: string) =>
    ApiError.forbidden(`The supplied authentication is not authorized to access '${what}'.`),
  bindingOnly: () => ApiError.badRequest('Operation not permitted on package binding.'),
  methodNotAllowed: (method: string) =>
    new ApiError(405, `HTTP method not allowed, supported methods do not include ${method}`),
}
