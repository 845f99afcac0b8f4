import { Menu } from '@base-ui/react/menu'
import { Suspense, useState } from 'react'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { useAnnounced } from '../parts/announce'
import { Button } from '../parts/Button'
import { leave } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { Name } from '../parts/Name'
import { useCaller, useMay } from '../session/caller'
import { AsksAgain, SignIn } from '../session/SignIn'
import { signOut, useSession } from '../session/session'
import { signOutEverywhere } from '../session/tokens'
import { text } from '../text/en'
import { areas } from './areas'
import { Broken } from './Broken'
import { Leaving } from './Leaving'
import { Notice } from './Notice'
import { Nowhere } from './Nowhere'
import { Palette } from './Palette'
import { Runs } from './Runs'
import { type Theme, useTheme } from './theme'
import './shell.css'

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

/** Signs out of this tab or, for somebody who has signed in and not given a key, everywhere. */
function Leave() {
  const { credential } = useSession()
  const [error, setError] = useState<unknown>()
  const [place, setPlace] = useState<HTMLElement | null>(null) // the menu belongs to the bar, where people look for it
  if (credential?.kind !== 'token')
    return (
      <Button kind="quiet" onClick={() => leave(signOut)}>
        {text.session.leave}
      </Button>
    )
  return (
    <div ref={setPlace}>
      <Menu.Root>
        <Menu.Trigger render={<Button kind="quiet" />}>{text.session.leave} ▾</Menu.Trigger>
        <Menu.Portal container={place}>
          <Menu.Positioner sideOffset={4}>
            <Menu.Popup className="menu">
              <Menu.Item className="menu-item" onClick={() => leave(signOut)}>
                {text.session.leave}
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                onClick={() => leave(() => void signOutEverywhere().then(signOut, setError))}
              >
                {text.session.leaveEverywhere}
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {error !== undefined && <Failed error={error} />}
    </div>
  )
}

function Bar() {
  const [at] = useLocation()
  const { data: caller } = useCaller()
  const may = useMay()
  return (
    <header className="bar">
      <a className="button skip" href="#content">
        {text.skip}
      </a>
      <Link href="/" className="product">
        {text.product}
      </Link>
      <nav aria-label={text.areas.label}>
        <ul>
          {areas
            .filter((a) => !a.needs || may(a.needs))
            .map((a) => (
              <li key={a.path}>
                <Link href={a.path} aria-current={at === a.path || at.startsWith(`${a.path}/`) ? 'page' : undefined}>
                  {a.name}
                </Link>
              </li>
            ))}
          <li>
            <a href="/guide">{text.areas.guide}</a>
          </li>
          <li>
            <a href="/docs">{text.areas.reference}</a>
          </li>
        </ul>
      </nav>
      <div className="end">
        {caller && <Name className="who">{caller.name}</Name>}
        <Runs />
        <Colours />
        <Leave />
      </div>
    </header>
  )
}

/** What the live region says; the rest of the page does not speak by itself. */
function Voice() {
  return (
    <p className="hidden-text" aria-live="polite">
      {useAnnounced()}
    </p>
  )
}

/** The frame of every page, and which area an address belongs to. It is shown once the service has said what to offer. */
function Frame() {
  const { isPending } = useCaller()
  const [at] = useLocation()
  return (
    <>
      {isPending && <Loading />}
      <div className="shell" hidden={isPending}>
        <Bar />
        <main className="page" id="content" tabIndex={-1}>
          <Broken at={at}>
            <Suspense fallback={null}>
              <Switch>
                {areas.map((a) => (
                  <Route key={a.path} path={a.path} nest>
                    <a.page />
                  </Route>
                ))}
                <Route path="/">
                  <Redirect to={areas[0]?.path ?? '/'} replace />
                </Route>
                <Route>
                  <Nowhere />
                </Route>
              </Switch>
            </Suspense>
          </Broken>
        </main>
      </div>
      <Notice />
      <Voice />
      <Palette />
      <Leaving />
      <AsksAgain />
    </>
  )
}

/** The console of whoever has signed in, else the form for it. */
export function Shell() {
  const { credential } = useSession()
  return credential ? <Frame /> : <SignIn />
}
