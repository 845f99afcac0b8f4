import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { parts } from './parts.ts'

// The files are committed in internal/console/dist, and make verify compares every byte of a new build with them.
export default defineConfig({
  base: '/console/',
  plugins: [react(), parts()],
  build: {
    outDir: '../internal/console/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy of the page loads nothing by value
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // A service to develop against: npx vite, and quarry serve on its usual port.
  server: { proxy: { '/v2': 'http://127.0.0.1:8000' } },
})
