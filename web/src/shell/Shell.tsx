import { lazy, Suspense } from 'react'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { Button } from '../parts/Button'
import { AsksAgain, SignIn } from '../session/SignIn'
import { signOut, useSession } from '../session/session'
import { text } from '../text/en'
import { type Theme, useTheme } from './theme'
import './shell.css'

const Corpora = lazy(() => import('../corpora/Corpora'))
const Corpus = lazy(() => import('../corpora/Corpus'))

function Colours() {
  const [theme, setTheme] = useTheme()
  return (
    <label>
      <span className="hidden-text">{text.theme.label}</span>
      <select value={theme} onChange={(e) => setTheme(e.target.value as Theme)}>
        {(['system', 'light', 'dark'] as const).map((name) => (
          <option key={name} value={name}>
            {text.theme[name]}
          </option>
        ))}
      </select>
    </label>
  )
}

function Bar() {
  const [at] = useLocation()
  const { credential } = useSession()
  return (
    <header className="bar">
      <a className="button skip" href="#content">
        {text.skip}
      </a>
      <Link href="/" className="product">
        {text.product}
      </Link>
      <nav>
        <ul>
          <li>
            <Link href="/corpora" aria-current={at.startsWith('/corpora') ? 'page' : undefined}>
              {text.areas.corpora}
            </Link>
          </li>
          <li>
            <a href="/guide">{text.areas.guide}</a>
          </li>
          <li>
            <a href="/docs">{text.areas.reference}</a>
          </li>
        </ul>
      </nav>
      <div className="end">
        <Colours />
        <Button kind="quiet" onClick={signOut} title={credential?.name || undefined}>
          {text.session.leave}
        </Button>
      </div>
    </header>
  )
}

/** The frame of every page, and which page an address is. Somebody else who signs in starts with nothing of the last. */
export function Shell() {
  const { credential } = useSession()
  if (!credential) return <SignIn />
  return (
    <div className="shell">
      <Bar />
      <main className="page" id="content" tabIndex={-1}>
        <Suspense fallback={null}>
          <Switch>
            <Route path="/corpora">
              <Corpora />
            </Route>
            <Route path="/corpora/:key">{({ key }) => <Corpus key={key} name={decodeURIComponent(key)} />}</Route>
            <Route>
              <Redirect to="/corpora" replace />
            </Route>
          </Switch>
        </Suspense>
      </main>
      <AsksAgain />
    </div>
  )
}
