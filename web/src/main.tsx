import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { Failure } from './api/failure'
import { watchReach, whenBack } from './api/reach'
import { aroundNav, guardDrafts } from './parts/draft'
import { keepSignedIn } from './session/tokens'
import { ready } from './shell/areas'
import { watchVersion } from './shell/newer'
import { Shell } from './shell/Shell'
import { restoreTheme } from './shell/theme'
import './style/tokens.css'
import './style/base.css'
import './parts/parts.css'

// A service that restarts, or has too much to do, is asked again; anything else is an answer.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failed, error) => error instanceof Failure && error.passing && failed < (error.status === 0 ? 2 : 5),
      retryDelay: (failed, error) =>
        error instanceof Failure && error.after ? error.after * 1000 : Math.min(500 * 2 ** failed, 8000),
      staleTime: 5000,
    },
    // A change that was asked for offline must not happen later, when nobody expects it.
    mutations: { networkMode: 'always' },
  },
})

restoreTheme()
keepSignedIn()
guardDrafts()
watchReach()
watchVersion()
whenBack(() => void queries.refetchQueries({ type: 'active', predicate: (q) => q.state.status === 'error' }))
const root = document.getElementById('root')
if (root) {
  await ready
  createRoot(root, { onCaughtError: () => undefined /* Broken shows it */ }).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <Router base="/console" aroundNav={aroundNav}>
            <Shell />
          </Router>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )
}
