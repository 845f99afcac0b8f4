import { Component, type ReactNode } from 'react'
import { text } from '../text/en'
import { Reload } from './Notice'
import { checkVersion } from './newer'

interface Props {
  /** What is shown now; another one is tried anew. */
  at: string
  children: ReactNode
}

interface State {
  at: string
  error?: unknown
}

/** Matches how browsers say that they could not load a part of the console. */
const unloaded = /dynamically imported module|module script/i

const saidBy = (error: unknown) => (error instanceof Error ? error.message : String(error))
const isUnloaded = (error: unknown) => unloaded.test(saidBy(error))

/** Shows a page, or a sentence where it fails: one part of it could not be loaded, or met what it does not know. */
export class Broken extends Component<Props, State> {
  override state: State = { at: this.props.at }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    return props.at === state.at ? null : { at: props.at, error: undefined }
  }

  override componentDidCatch(error: unknown) {
    if (!isUnloaded(error)) console.error(error)
    void checkVersion()
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div className="stack">
        <h1>{text.notice.brokenTitle}</h1>
        <div className="failed" role="alert">
          <p>{isUnloaded(error) ? text.notice.unloaded : text.notice.broken(saidBy(error))}</p>
          <Reload />
        </div>
      </div>
    )
  }
}
