import { Area } from '../parts/Area'
import { Field } from '../parts/Field'
import { text } from '../text/en'
import { type Rights, rightsOf, type User } from './access'
import { fieldsOf } from './Form'
import { metadataOf, namesOf, writtenMetadata } from './metadata'
import { RightsFields } from './Rights'

const t = text.access.people

/** What can be changed about a person, as it is typed. */
export interface Typed {
  description: string
  groups: string
  metadata: string
  rights: Rights
}

export const typedOf = (user?: User): Typed => ({
  description: user?.description ?? '',
  groups: (user?.groups ?? []).join(', '),
  metadata: writtenMetadata(user?.metadata),
  rights: rightsOf(user ?? {}),
})

/** Returns the part of a request that these fields make; the metadata has been seen to be readable. */
export const bodyOf = (typed: Typed) => ({
  description: typed.description,
  groups: namesOf(typed.groups),
  metadata: metadataOf(typed.metadata).value,
  ...typed.rights,
})

/** The places in a request that these fields show the faults of. */
export const personPlaces = ['body.description', 'body.groups', 'body.metadata']

/** The fields that a new person and a present one have alike. */
export function PersonFields({
  typed,
  change,
  error,
}: {
  typed: Typed
  change: (next: Typed) => void
  error: unknown
}) {
  const fields = fieldsOf(error)
  const set = (part: Partial<Typed>) => change({ ...typed, ...part })
  return (
    <>
      <RightsFields
        rights={typed.rights}
        change={(part) => set({ rights: { ...typed.rights, ...part } })}
        error={error}
      />
      <Field
        label={t.groups}
        hint={t.groupsHint}
        value={typed.groups}
        onChange={(e) => set({ groups: e.target.value })}
        bad={fields['body.groups']}
        autoComplete="off"
      />
      <Field
        label={t.description}
        value={typed.description}
        onChange={(e) => set({ description: e.target.value })}
        bad={fields['body.description']}
      />
      <Area
        label={t.metadata}
        hint={t.metadataHint}
        value={typed.metadata}
        onChange={(e) => set({ metadata: e.target.value })}
        bad={metadataOf(typed.metadata).bad ?? fields['body.metadata']}
        rows={4}
        spellCheck={false}
      />
    </>
  )
}
