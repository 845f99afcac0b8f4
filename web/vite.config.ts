import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { parts } from './parts.ts'

/** Returns the folder below src that a module is in, which names its area. */
const areaOf = (module: string | null) => /[\\/]src[\\/]([a-z]+)[\\/]/.exec(module ?? '')?.[1]

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
    chunkSizeWarningLimit: 600, // kB; a test holds what is loaded to its bounds
    cssCodeSplit: false, // the styles of all areas are smaller than one more request
    rolldownOptions: {
      output: {
        // A file for what every page needs, and one for each area.
        codeSplitting: {
          groups: [{ name: 'base', test: /[\\/](node_modules|src[\\/](api|parts|session|shell|text))[\\/]/ }],
        },
        chunkFileNames: (chunk) => `assets/${areaOf(chunk.facadeModuleId) || '[name]'}-[hash].js`,
      },
    },
  },
  // A service to develop against: npx vite, and quarry serve on its usual port.
  server: { proxy: { '/v2': 'http://127.0.0.1:8000' } },
})
