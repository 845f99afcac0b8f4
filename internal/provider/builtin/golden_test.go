package builtin_test

import (
	"strings"
	"testing"

	"quarry/internal/llm"
)

// golden is a question over results as a query with default settings finds them, pieces of real pages, and the sentence that the answer
// begins with.
type golden struct {
	rule, question string
	results        []string // each after its headings and "|", if it has any
	first          string
}

var goldens = []golden{
	{
		"an amount with a unit is worth more than the sentence that names the subject", "How much memory does Varnish need beside each object?",
		[]string{
			"file|The file backend stores objects in virtual memory backed by an unlinked file on disk with mmap.",
			"file|This implies that sufficient virtual memory needs to be available to accomodate the file size in addition to any memory Varnish requires anyway.",
			"Sizing your cache|Varnish has a overhead of about 1KB per object.",
		},
		"Varnish has a overhead of about 1KB per object. [3]",
	},
	{
		"the number of a section is no amount", "How many databases can I attach in SQLite without changing anything?",
		[]string{
			"11. Maximum Number Of Attached Databases The ATTACH statement is an SQLite extension that allows two or more databases to be associated to the same database connection and to operate as if they were a single database.",
			"The number of simultaneously attached databases is limited to SQLITE_MAX_ATTACHED which is set to 10 by default.",
			"The maximum number of attached databases can be lowered at run-time using the sqlite3_limit(db,SQLITE_LIMIT_ATTACHED,size) interface.",
		},
		"The number of simultaneously attached databases is limited to SQLITE_MAX_ATTACHED which is set to 10 by default. [2]",
	},
	{
		"a path is what where asks for", "Where is the command for mails of logrotate?",
		[]string{
			"-m, --mail command Tells logrotate which command to use when mailing logs.",
			"NAME logrotate rotates, compresses, and mails system logs",
			"CONFIGURATION FILE logrotate reads everything about the log files it should be handling from the series of configuration files specified on the command line.",
			"The default mail command is /usr/bin/mail.",
		},
		"The default mail command is /usr/bin/mail. [4]",
	},
	{
		"an instruction answers how", "How do I turn compression off in a ws client?",
		[]string{
			"WebSocket compression|To always disable the extension on the client, set the perMessageDeflate option to false.",
			"WebSocket compression|ws supports the permessage-deflate extension which enables the client and server to negotiate a compression algorithm and its parameters, and then selectively apply it to the data payloads of each WebSocket message.",
		},
		"To always disable the extension on the client, set the perMessageDeflate option to false. [1]",
	},
	{
		"a value belongs to its heading", "What is the default body limit?",
		[]string{
			"maxParamLength|Default: 100",
			"bodyLimit|Default: 1048576 (1 MiB)",
			"bodyLimit|Defines the maximum payload, in bytes, that the server is allowed to accept.",
			"logger|Default: null",
		},
		"Default: 1048576 (1 MiB) [2]",
	},
	{
		"what says that something can't be is an answer to whether it can", "Can reload be combined with preloading in gunicorn?",
		[]string{
			"Reload the configuration|Gunicorn reloads its settings, starts new workers, and gracefully shuts down the previous ones.",
			"reload|The reloader is incompatible with application preloading.",
			"reload|It will cause workers to be restarted whenever application code changes.",
		},
		"The reloader is incompatible with application preloading. [2]",
	},
	{
		"the noun behind which is in the answer", "Which counter tells me that the cache of Varnish is too small?",
		[]string{
			"Sizing your cache|So, if you have lots of small objects in your cache the overhead might be significant.",
			"Sizing your cache|Watch the n_lru_nuked counter with varnishstat or some other tool.",
			"Sizing your cache|Varnish has a overhead of about 1KB per object.",
		},
		"Watch the n_lru_nuked counter with varnishstat or some other tool. [2]",
	},
	{
		"code is not quoted where none is asked for", "Could fail2ban ban my own host?",
		[]string{
			"ignoreself boolean value (default true) indicates the banning of own IP addresses should be prevented",
			"if (std.ban(\"req.http.host == \" + req.http.host + \" && req.url == \" + req.url)) {\n  return(synth(200, \"Ban added\"));\n}",
		},
		"ignoreself boolean value (default true) indicates the banning of own IP addresses should be prevented [1]",
	},
}

// Proves each rule of the choice of the first sentence on pieces of real pages.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, g := range goldens {
		r := llm.Request{Question: g.question}
		for i, text := range g.results {
			e := llm.Evidence{N: i + 1, Text: text, Score: 0.9 - 0.05*float64(i)}
			if head, rest, ok := strings.Cut(text, "|"); ok {
				e.Headings, e.Text = []string{head}, rest
			}
			r.Evidence = append(r.Evidence, e)
		}
		if got := complete(t, r).Text; !strings.HasPrefix(got, g.first) {
			t.Errorf("%s: %q is answered by\n%s\nwant first\n%s", g.rule, g.question, got, g.first)
		}
	}
}
