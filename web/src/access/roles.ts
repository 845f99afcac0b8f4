import type { Caller } from '../session/caller'
import type { ApiRole, CorpusRole } from './access'

type OnCorpus = CorpusRole['role']

/** The roles that each role includes, directly. */
const includes: Partial<Record<ApiRole, ApiRole[]>> = {
  owner: ['administrator', 'billing_administrator'],
  administrator: ['corpus_administrator', 'agent_administrator', 'pipeline_administrator', 'viewer'],
  viewer: ['corpus_viewer', 'agent_viewer', 'pipeline_viewer', 'metrics_viewer'],
  corpus_administrator: ['corpus_developer'],
  corpus_developer: ['corpus_viewer'],
}

/** The roles for the account that open something today, the strongest first. */
export const offered: ApiRole[] = [
  'owner',
  'administrator',
  'corpus_administrator',
  'corpus_developer',
  'corpus_viewer',
  'viewer',
]

/** The roles on one corpus, the weakest first, with the role for the account that holds them on all corpora. */
const wide: [OnCorpus, ApiRole][] = [
  ['viewer', 'corpus_viewer'],
  ['editor', 'corpus_developer'],
  ['administrator', 'corpus_administrator'],
  ['owner', 'corpus_administrator'],
]

/** Reports whether somebody with these roles holds another one, by itself or by one that includes it. */
export function holds(have: readonly ApiRole[], role: ApiRole): boolean {
  return have.some((h) => h === role || holds(includes[h] ?? [], role))
}

/** Returns the roles for the account that the caller can give: those that they hold. */
export function givable(caller: Pick<Caller, 'api_roles'>): ApiRole[] {
  return offered.filter((role) => holds(caller.api_roles, role))
}

/** Returns the roles that the caller can give on a corpus, the weakest first. */
export function givableOn(caller: Pick<Caller, 'api_roles' | 'corpus_roles'>, corpus: string): OnCorpus[] {
  const order = wide.map(([role]) => role)
  const own = caller.corpus_roles.filter((r) => r.corpus_key === corpus).map((r) => order.indexOf(r.role))
  const strongest = Math.max(-1, ...own)
  return wide.filter(([, api], i) => i <= strongest || holds(caller.api_roles, api)).map(([role]) => role)
}

/** Reports whether the caller can see the keys of everybody, and not only those of their own. */
export const seesAllKeys = (caller: Pick<Caller, 'api_roles'>) => holds(caller.api_roles, 'corpus_administrator')
