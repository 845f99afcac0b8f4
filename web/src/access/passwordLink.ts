import { text } from '../text/en'
import type { PasswordLink } from './access'
import type { Shown } from './Secret'

const t = text.access.people

/** Returns the window with the link by which a person chooses a password; nothing where the service made none. */
export function shownLink(name: string, made: PasswordLink): Shown | undefined {
  const code = made.one_time_code
  if (!code) return undefined
  const own = `${location.origin}/set_password?${new URLSearchParams({ username: name, code })}`
  return {
    title: t.linkTitle,
    why: t.linkWhy,
    values: [
      [t.link, made.one_time_code_link ?? own],
      [t.code, code],
    ],
  }
}
