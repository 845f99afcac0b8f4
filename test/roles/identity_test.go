package roles_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	contract "quarry/api"
	"quarry/internal/identity/authz"
	"quarry/internal/provider/scripted"
	"quarry/internal/store/storetest"
	"quarry/test/roles"
)

// identityRoles are the roles that open the operations of identities, as the contract's digest has them: it is written here by hand.
var identityRoles = map[string]struct{ method, account, agent string }{
	"getAgentIdentity": {
		"GET", "owner administrator viewer agent_administrator agent_developer agent_viewer", "agent_administrator agent_developer agent_viewer",
	},
	"updateAgentIdentity": {"PATCH", "owner administrator agent_administrator", "agent_administrator"},
}

// TestIdentityRoutes proves who may read and change the identity of an agent: every role over the account, every role on the agent, and
// none on another one.
func TestIdentityRoutes(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for _, key := range []string{right, wrong} {
		s.must(t, http.StatusCreated, "POST", "/v2/agents", object{"key": key, "name": key, "model": object{"name": "extractive-1.0"}})
	}
	table, err := roles.Table(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	try := func(who string, rights object, api, agent string, on string) {
		t.Helper()
		rights["name"] = who
		_, secret := s.key(t, rights)
		for _, row := range table {
			want, ok := identityRoles[row.ID]
			if !ok {
				continue
			}
			status := http.StatusForbidden
			if slices.Contains(strings.Fields(want.account), api) || on == right && slices.Contains(strings.Fields(want.agent), agent) {
				status = http.StatusOK
			}
			var body any
			if want.method == "PATCH" {
				body = object{}
			}
			tried++
			if w := s.ask(t, want.method, "/v2/agents/"+right+"/identity", secret, body); w.Code != status {
				t.Errorf("%s by %s: %d %s, want %d", row.ID, who, w.Code, w.Body, status)
			}
		}
	}
	try("nothing", object{}, "", "", "")
	for _, role := range authz.APIRoles() {
		try(role, object{"api_roles": []string{role}}, role, "", "")
	}
	for _, role := range authz.AgentRoles() {
		for _, on := range []string{right, wrong} {
			try(role+" on "+on, object{"agent_roles": []object{{"agent_key": on, "role": role}}}, "", role, on)
		}
	}
	if want := 2 * (1 + len(authz.APIRoles()) + 2*len(authz.AgentRoles())); tried != want {
		t.Errorf("%d of %d calls were made", tried, want)
	}
}

// touching is a configuration of a tool in the table of TestAgentsAct.
type touching struct {
	name  string
	level string // the role that a call needs: viewer, editor, agent_user
	named bool   // by the configuration; else by a reference or the model
	entry object
	args  object
}

// touches returns every tool that touches something, named by its configuration, by a reference and by the model, as far as it can be.
func touches() (out []touching) {
	ref := object{"$ref": "session.metadata.corpus"}
	search := func(key any) object {
		return object{"type": "corpora_search", "query_configuration": object{"search": object{"corpora": []object{{"corpus_key": key}}}}}
	}
	out = append(out, touching{"search-pinned", "viewer", true, search("shop"), object{"query": "lamp"}},
		touching{"search-ref", "viewer", false, search(ref), object{"query": "lamp"}},
		touching{"ask-pinned", "agent_user", true, object{"type": "sub_agent", "sub_agent_configuration": object{"agent_key": "helper"}}, object{"message": `[{"text":"yes"}]`}})
	for _, tool := range []struct {
		name, level string
		entry       object
		args        object
	}{
		{"text", "viewer", object{"type": "get_document_text"}, object{"document_id": "lamp"}},
		{"core", "editor", object{"type": "dynamic_vectara", "tool_id": "tol_vectara_core_document_index"}, object{"documents": []object{{"document": object{"id": "made", "document_parts": []object{{"text": "x"}}}}}}},
		{"structured", "editor", object{"type": "dynamic_vectara", "tool_id": "tol_vectara_structured_document_index"}, object{"document_id": "whole", "sections": []object{{"text": "x"}}}},
		{"delete", "editor", object{"type": "dynamic_vectara", "tool_id": "tol_vectara_delete_documents"}, object{"document_ids": []string{"none"}}},
	} {
		with := func(members, more object) object {
			out := object{}
			for _, all := range []object{members, more} {
				for name, v := range all {
					out[name] = v
				}
			}
			return out
		}
		out = append(out,
			touching{tool.name + "-pinned", tool.level, true, with(tool.entry, object{"argument_override": object{"corpus_key": "shop"}}), tool.args},
			touching{tool.name + "-ref", tool.level, false, with(tool.entry, object{"argument_override": object{"corpus_key": ref}}), tool.args},
			touching{tool.name + "-model", tool.level, false, tool.entry, with(tool.args, object{"corpus_key": "shop"})})
	}
	return out
}

// mayTouch is the oracle: what the contract says of a call, of the identity's mode and roles and of the sender's roles.
func mayTouch(x *touching, mode string, identity, sender []string) bool {
	enough := map[string][]string{"viewer": {"viewer", "editor"}, "editor": {"editor"}, "agent_user": {"agent_user"}}[x.level]
	holds := func(roles []string) bool {
		return slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(enough, r) })
	}
	if mode == "manual" {
		return holds(identity)
	}
	return x.named || holds(sender)
}

// TestAgentsAct proves for each tool that touches something, inline and shared, named by its configuration, by a reference and by the
// model, against identities and senders with and without rights, which calls are allowed. Everything that is refused was refused
// for lack of rights, and nothing else was.
func TestAgentsAct(t *testing.T) {
	t.Parallel()
	testAgentsAct(t, open(t, ""))
}

// TestAgentsActPostgres proves the same on PostgreSQL.
func TestAgentsActPostgres(t *testing.T) {
	t.Parallel()
	testAgentsAct(t, open(t, storetest.Postgres(t)))
}

func testAgentsAct(t *testing.T, s *service) {
	provider := scripted.Start(t)
	s.must(t, http.StatusCreated, "POST", "/v2/llms", object{
		"type": "openai-compatible", "name": "told", "model": "told", "uri": provider.URL + "/v1/chat/completions", "capabilities": object{"context_limit": 1_000_000},
	})
	s.must(t, http.StatusCreated, "POST", "/v2/corpora", object{"key": "shop"})
	s.must(t, http.StatusCreated, "POST", "/v2/corpora/shop/documents", object{"id": "lamp", "type": "core", "document_parts": []object{{"text": "The lamp costs a crown."}}})
	s.must(t, http.StatusCreated, "POST", "/v2/agents", object{"key": "helper", "name": "helper", "model": object{"name": "told"}})
	all, entries, calls := map[string]touching{}, object{}, []object{}
	for _, x := range touches() {
		for _, kind := range []string{"inline", "shared"} {
			name := x.name + "-" + kind
			all[name], entries[name] = x, x.entry
			if kind == "shared" {
				body := object{"key": name, "name": name}
				for member, v := range x.entry {
					body[member] = v
				}
				s.must(t, http.StatusCreated, "POST", "/v2/tool_configurations", body)
				entries[name] = object{"type": "reference", "tool_configuration_key": name}
			}
			calls = append(calls, object{"name": name, "arguments": x.args})
		}
	}
	s.must(t, http.StatusCreated, "POST", "/v2/agents", object{"key": "worker", "name": "worker", "model": object{"name": "told"}, "tool_configurations": entries})
	script, err := json.Marshal([]object{{"calls": calls}, {"text": "Done."}})
	if err != nil {
		t.Fatal(err)
	}
	senders := map[string][]string{"nothing": nil, "viewer": {"viewer"}, "editor": {"editor"}}
	secrets := map[string]string{}
	for name, held := range senders {
		rights := object{"name": name, "agent_roles": []object{{"agent_key": "worker", "role": "agent_user"}}}
		for _, role := range held {
			rights["corpus_roles"] = onCorpus("shop", role)
		}
		_, secrets[name] = s.key(t, rights)
	}
	seen := map[bool]int{}
	for _, is := range []struct {
		mode string
		held []string
	}{{"auto", nil}, {"manual", nil}, {"manual", []string{"viewer"}}, {"manual", []string{"editor"}}, {"manual", []string{"agent_user"}}, {"auto", nil}} {
		change := object{"mode": is.mode, "api_roles": []string{}, "corpus_roles": []object{}, "agent_roles": []object{}}
		for _, role := range is.held {
			if role == "agent_user" {
				change["agent_roles"] = []object{{"agent_key": "helper", "role": role}}
			} else {
				change["corpus_roles"] = onCorpus("shop", role)
			}
		}
		s.must(t, http.StatusOK, "PATCH", "/v2/agents/worker/identity", change)
		for sender, held := range senders {
			key := fmt.Sprint("s", len(seen), "-", seen[true]+seen[false])
			s.must(t, http.StatusCreated, "POST", "/v2/agents/worker/sessions", object{"key": key, "metadata": object{"corpus": "shop"}})
			turn := s.mustAs(t, http.StatusCreated, secrets[sender], "POST", "/v2/agents/worker/sessions/"+key+"/events", object{"messages": []object{{"type": "text", "content": string(script)}}})
			for _, e := range turn["events"].([]any) {
				e := e.(object)
				if e["type"] != "tool_output" {
					continue
				}
				name := e["tool_configuration_name"].(string)
				x := all[name]
				text := fmt.Sprint(e["tool_output"])
				refused := strings.Contains(text, "this agent may not") || strings.Contains(text, "that whoever sent the message may")
				if want := mayTouch(&x, is.mode, is.held, held); refused == want {
					t.Errorf("%s, %s with %q, sent by %s: allowed %t, want %t: %.300s", name, is.mode, is.held, sender, !refused, want, text)
				}
				if e["error"] == true && !refused {
					t.Errorf("%s, %s with %q, sent by %s: failed for another reason: %.300s", name, is.mode, is.held, sender, text)
				}
				seen[refused]++
			}
		}
	}
	if want := 6 * len(senders) * len(all); seen[true]+seen[false] != want || seen[true] < want/4 || seen[false] < want/4 {
		t.Errorf("%d calls were refused and %d allowed, of %d", seen[true], seen[false], want)
	}
}
