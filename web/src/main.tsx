import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { Failure } from './api/failure'
import { keepSignedIn } from './session/tokens'
import { Shell } from './shell/Shell'
import { restoreTheme } from './shell/theme'
import './style/tokens.css'
import './style/base.css'
import './parts/parts.css'

// A service that restarts, or has too much to do, is asked again; anything else is an answer.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failed, error) => error instanceof Failure && error.passing && failed < 5,
      retryDelay: (failed, error) =>
        error instanceof Failure && error.after ? error.after * 1000 : Math.min(500 * 2 ** failed, 8000),
      staleTime: 5000,
    },
  },
})

restoreTheme()
keepSignedIn()
const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <Router base="/console">
            <Shell />
          </Router>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )
