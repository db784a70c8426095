/** Replies that mean yes, in the languages people answer assistants in. */
const yes = [
  'y',
  'yes',
  'yep',
  'yeah',
  'yup',
  'ok',
  'okay',
  'sure',
  'go',
  'go ahead',
  'proceed',
  'confirm',
  'confirmed',
  'i confirm',
  'agreed',
  'i agree',
  'approve',
  'approved',
  'start',
  'start it',
  'run it',
  'do it',
  'please do',
  'ja',
  'oui',
  'si',
  'sí',
  'sim',
  'да',
  'はい',
  '是',
  '好',
]

/** Words that turn a reply that begins with yes into something else. */
const doubt = /\b(no|not|don'?t|do not|stop|cancel|wait|but|later|instead|unless|if|nein|non)\b/i

/** Whether a person's reply, as they wrote it, is a plain yes. */
export const isYes = (reply: string): boolean => {
  const words = reply
    .trim()
    .toLowerCase()
    .replace(/[.!,;:)\]"'’]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (doubt.test(reply.replace(/’/g, "'"))) return false
  return yes.some((word) => words === word || words.startsWith(`${word} `))
}
