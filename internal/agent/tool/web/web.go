// Package web is the tools of agents for the web: web_get, which makes HTTP requests, and web_search (contract: tools.md section 3).
// Adapters make the requests and ask the search engines.
package web
