package guide

import (
	"regexp"
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
)

// localURL is where the pages have a model on the reader's machine.
const localURL = "http://127.0.0.1:11434"

// providerURLs are the providers of the pages.
var providerURLs = []string{
	localURL, "https://api.openai.com", "https://api.anthropic.com", "https://generativelanguage.googleapis.com", "https://acme.openai.azure.com",
	"https://login.acme.test", "https://models.acme.test",
}

// modelKeys are the keys that the pages suppose in the environment.
var modelKeys = []string{"OPENAI_API_KEY=sk-of-the-guide-0123456789", "ANTHROPIC_API_KEY=sk-ant-of-the-guide-0123456789", "GEMINI_API_KEY=AIza-of-the-guide-0123456789"}

// providers replaces every provider of language models that a page calls.
type providers struct{ *scripted.Server }

// provider starts one. It lists the model of the pages, which has an answer prepared, one for the page on searching, where it is
// asked for a filter, and those for the pages on agents and tools.
func provider(t testing.TB) providers {
	t.Helper()
	s := scripted.Start(t)
	s.List(scripted.Listed{ID: "llama3.2", Owner: "library", Context: 131072})
	sluice := scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "sluice", Pieces: []string{`{"height_cm":20}`}}}},
		scripted.Reply{Text: "The sluice is open by 20 cm."},
	)
	note := scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "note", Pieces: []string{`{"documents":[{"document":{"id":"grease","document_parts":[{"text":"The foghorn was greased on Friday."}]}}]}`}}}},
		scripted.Reply{Text: "Noted."},
	)
	forget := scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "forget", Pieces: []string{`{"document_ids":["grease","boats"]}`}}}},
		scripted.Reply{Text: "It is forgotten."},
	)
	lamp := scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "search", Pieces: []string{`{"query":"When is the lamp cleaned?"}`}}}},
		scripted.Reply{Text: "Every Monday."},
	)
	status := scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "status", Pieces: []string{`{}`}}}},
		scripted.Reply{Text: "I may not ask it."},
	)
	harbour := scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "ask_keeper", Pieces: []string{`{"message":"When is the lamp cleaned?"}`}}}},
		scripted.Reply{Text: "The keeper cleans the lamp on Monday and is free on Tuesday."},
	)
	s.Respond("llama3.2", func(said *transcript.Transcript) scripted.Reply {
		switch question := said.Question(); {
		case strings.HasPrefix(question, "Open the sluice"):
			return sluice(said)
		case strings.HasPrefix(question, "Note:"):
			return note(said)
		case strings.HasPrefix(question, "Forget"):
			return forget(said)
		case strings.HasPrefix(question, "Plan"):
			return harbour(said)
		case strings.HasPrefix(question, "When is the lamp"):
			return lamp(said)
		case strings.HasPrefix(question, "Is the service well"):
			return status(said)
		}
		if reply := reads(said); reply != nil {
			return reply(said)
		}
		return scripted.Reply{Text: "The filter is to be changed every 500 hours [1]."}
	})
	s.On("You find filters in the words of a search query", scripted.Reply{Text: `{"query": "How often is the oil filter replaced?", "metadata_filter": "doc.line = 'hydraulics' AND doc.year >= 2020"}`})
	s.On("Count to a million.", scripted.Named("pace:50:1000000", nil))
	s.On("Choose the queue of the request", scripted.Reply{Text: `{"queue": "service"}`})
	s.On("You are at the service desk", scripted.Reply{Text: "Dress the stone: a dull one makes the flour warm."})
	return providers{s}
}

// asks returns the commands of a page with the addresses that they find here: a search of the usual ports is sent to the one
// provider, for nobody knows what else serves models on the machine of the test.
func (p providers) asks(shell string) string {
	shell = strings.ReplaceAll(shell, "quarry llm add --local", "quarry llm add --local --at "+localURL)
	for _, url := range providerURLs {
		shell = strings.ReplaceAll(shell, url, p.URL)
	}
	return shell
}

// shows returns an output with the address that the page shows, and with the program that the reader's search knows by its
// port.
func (p providers) shows(output string) string {
	return foundAt.ReplaceAllString(strings.ReplaceAll(output, p.URL, localURL), "1 Ollama $1")
}

var foundAt = regexp.MustCompile(`(?m)^1 +(llama3\.2 )`)

// reads returns the replies to questions about the files of a session on the page on tools, nil to others. The ids of files stand in what was
// said.
func reads(said *transcript.Transcript) func(*transcript.Transcript) scripted.Reply {
	call := func(tool, file, more string) scripted.Reply {
		id := regexp.MustCompile(`art_` + file + `_[a-z0-9]{6}`).FindString(string(said.Body))
		return scripted.Reply{Calls: []scripted.Call{{Name: tool, Pieces: []string{`{"artifact_id":"` + id + `"` + more + `}`}}}}
	}
	switch question := said.Question(); {
	case strings.HasPrefix(question, "Where does the gauge stand"):
		return scripted.Rounds(call("look", "gauge_png", ""))
	case strings.HasPrefix(question, "The image with") && len(said.Images) == 1:
		return scripted.Rounds(scripted.Reply{Text: "The gauge stands at 3 bar."})
	case strings.HasPrefix(question, "How many teeth"):
		return scripted.Rounds(call("convert", "gears_html", ""), call("read", "gears_md", ""), scripted.Reply{Text: "The large gear has 48 teeth."})
	case strings.HasPrefix(question, "How many hours"):
		return scripted.Rounds(call("query", "hours_json", `,"expression":"[.hours[].n] | add"`), scripted.Reply{Text: "It burned for 16 hours."})
	}
	return nil
}
