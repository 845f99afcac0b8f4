package binary

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// signedIn creates an application client and returns a test client that uses its access token: the service needs its
// sealed signing key for it.
func signedIn(t *testing.T, p *testkit.Process) (bearer, secret string) {
	t.Helper()
	made := p.Client().Must(t, http.StatusCreated, "POST", "/v2/app_clients", map[string]any{
		"type": "client_credentials", "name": "nightly", "api_roles": []any{"viewer"},
	})
	secret = made["client_secret"].(string)
	return token(t, p, made["client_id"].(string), secret), secret
}

func token(t *testing.T, p *testkit.Process, id, secret string) string {
	t.Helper()
	res, err := http.PostForm(p.URL+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the token endpoint answers %d: %v", res.StatusCode, err)
	}
	return answer.Token
}

// mustBear proves that a token opens the service.
func mustBear(t *testing.T, p *testkit.Process, bearer string) {
	t.Helper()
	status, answer := raw(t, p, "GET", "/v2/corpora", nil, map[string]string{"X-Api-Key": bearer}) // looks like no key
	if status != http.StatusUnauthorized {
		t.Errorf("the token as a key: %d %s", status, answer)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/v2/corpora", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // only the status counts
	if res.StatusCode != http.StatusOK {
		t.Errorf("a token made before answers %d\n%s", res.StatusCode, p.Log())
	}
}

// TestDataFolder proves that every file of a data folder is its owner's alone, also in a folder that others may look
// into, and that a copy of it without the key file starts nothing and reveals neither a signing key nor a client secret.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := testkit.StartBinary(t, dir)
	createCorpus(t, p.Client(), "c")
	p.Client().Must(t, http.StatusCreated, "POST", "/v2/corpora/c/documents", core("d", 1, "The mill grinds."))
	bearer, secret := signedIn(t, p)
	mustBear(t, p, bearer)
	private(t, dir)
	p.Kill() // the log of the database stays
	private(t, dir)

	var hidden [][]byte
	for _, plain := range sealedIn(t, dir, "signing/") {
		hidden = append(hidden, plain, []byte(base64.StdEncoding.EncodeToString(plain)), []byte(base64.RawURLEncoding.EncodeToString(plain)))
		var key struct{ D string } // of a JSON Web Key
		if json.Unmarshal(plain, &key) == nil && key.D != "" {
			hidden = append(hidden, []byte(key.D))
		}
	}
	if len(hidden) == 0 {
		t.Fatal("no signing key is sealed: the test looks for nothing")
	}
	hidden = append(hidden, []byte(secret), []byte(bearer))
	copied := copyFolder(t, dir)
	remove(t, filepath.Join(copied, "secret.key"))
	each(t, copied, func(name string, _ fs.FileInfo) {
		content := read(t, name)
		for _, h := range hidden {
			if bytes.Contains(content, h) {
				t.Errorf("%s holds a secret of %d bytes in plain", name, len(h))
			}
		}
	})
	refused(t, serve(t, nil, on(copied)...), 5, filepath.Join(copied, "secret.key"), "missing", "restore", "QUARRY_SECRET_KEY")
	if _, err := os.Stat(filepath.Join(copied, "secret.key")); err == nil {
		t.Error("a start that was refused made a key")
	}
}

// each visits the files of a folder.
func each(t *testing.T, dir string, visit func(name string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			visit(name, info)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func private(t *testing.T, dir string) {
	t.Helper()
	n := 0
	each(t, dir, func(name string, info fs.FileInfo) {
		if n++; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want it to be its owner's alone", name, info.Mode())
		}
	})
	if n < 5 {
		t.Errorf("%d files are in %s", n, dir)
	}
}

// sealedIn returns the secrets of a data folder that no server holds.
func sealedIn(t *testing.T, dir, prefix string) (all [][]byte) {
	t.Helper()
	copied := copyFolder(t, dir) // opening it changes it
	if err := os.Chmod(filepath.Join(copied, "secret.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Config{Dir: copied})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(db), File: seal.NewFile(filepath.Join(copied, "secret.key"))})
	if err != nil {
		t.Fatal(err)
	}
	some, err := secrets.New(db, v.Keyring()).List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range some {
		all = append(all, one.Plain)
	}
	return all
}

// TestSecretKeyRefused proves that a start with a key file that others can use, that is damaged, missing or another
// installation's says what to do and changes nothing; and that the right key comes from the environment as well.
func TestSecretKeyRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir)
	bearer, _ := signedIn(t, p)
	mustStop(t, p)
	file := filepath.Join(dir, "secret.key")
	good := read(t, file)
	keys, err := seal.ParseKeys(string(good))
	if err != nil {
		t.Fatal(err)
	}
	other := seal.NewKey()
	for _, tc := range []struct {
		name, text string
		mode       os.FileMode
		env        []string
		code       int
		words      []string
	}{
		{"others can read it", string(good), 0o644, nil, 5, []string{file, "chmod 600"}},
		{"its group can write it", string(good), 0o620, nil, 5, []string{file, "chmod 600"}},
		{"empty", "", 0o600, nil, 5, []string{file, "restore"}},
		{"cut", string(good[:len(good)-9]), 0o600, nil, 5, []string{file, "restore"}},
		{"another's", other.Text(), 0o600, nil, 5, []string{file, keys[0].ID(), other.ID(), "restore"}},
		{"another's in the environment", string(good), 0o600, []string{"QUARRY_SECRET_KEY=" + other.Text()}, 5, []string{"QUARRY_SECRET_KEY", keys[0].ID()}},
		{"malformed in the environment", string(good), 0o600, []string{"QUARRY_SECRET_KEY=correct horse"}, 2, []string{"secret_key", "qsk_"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write(t, file, []byte(tc.text))
			if err := os.Chmod(file, tc.mode); err != nil {
				t.Fatal(err)
			}
			got := serve(t, tc.env, on(dir)...)
			refused(t, got, tc.code, tc.words...)
			if !bytes.Equal(read(t, file), []byte(tc.text)) {
				t.Error("the key file was changed")
			}
			if strings.Contains(got.err, keys[0].Text()[8:30]) || strings.Contains(got.err, other.Text()[8:30]) {
				t.Errorf("the message shows a key: %s", got.err)
			}
		})
	}
	remove(t, file)
	p = testkit.StartWith(t, dir, []string{"QUARRY_SECRET_KEY=" + keys[0].Text()}, on(dir)...)
	mustBear(t, p, bearer)
	if _, err := os.Stat(file); err == nil {
		t.Error("a start with the key in the environment made a key file")
	}
}

// TestRotateInEnvironment proves the way of rotating keys that the environment holds: each step says what comes next,
// and what was signed before stays valid.
func TestRotateInEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	older, newer := seal.NewKey(), seal.NewKey()
	start := func(keys ...seal.Key) *testkit.Process {
		t.Helper()
		texts := make([]string, len(keys))
		for i, k := range keys {
			texts[i] = k.Text()
		}
		return testkit.StartWith(t, dir, []string{"QUARRY_SECRET_KEY=" + strings.Join(texts, ",")}, on(dir)...)
	}
	p := start(older)
	bearer, _ := signedIn(t, p)
	refusal := p.Client().Must(t, http.StatusConflict, "POST", "/v2/secret_keys/rotate", nil)
	if text := refusal["messages"].([]any)[0].(string); !strings.Contains(text, "quarry secret new") || !strings.Contains(text, "QUARRY_SECRET_KEY") {
		t.Errorf("rotate says %q, want what to do", text)
	}
	mustStop(t, p)
	p = start(newer, older)
	mustBear(t, p, bearer)
	done := p.Client().Must(t, http.StatusOK, "POST", "/v2/secret_keys/rotate", nil)
	if advice, _ := done["advice"].(string); done["done"] != true || done["key_id"] != newer.ID() || !strings.Contains(advice, newer.ID()) {
		t.Errorf("rotate answers %v", done)
	}
	p.Client().Must(t, http.StatusConflict, "POST", "/v2/secret_keys/rotate", nil)
	mustBear(t, p, bearer)
	mustStop(t, p)
	p = start(newer)
	mustBear(t, p, bearer)
	mustStop(t, p)
	refused(t, serve(t, []string{"QUARRY_SECRET_KEY=" + older.Text()}, on(dir)...), 5, newer.ID(), "restore")
}

// TestRotateOnTwoNodes proves that a node goes on while another rotates the keys that they share: it reads the key
// file anew when it meets a key that it doesn't know. Without a way to that file it can't start.
func TestRotateOnTwoNodes(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	one, two := t.TempDir(), t.TempDir()
	a := testkit.StartBinary(t, one, "--database", database)
	refused(t, serve(t, nil, append(on(two), "--database", database)...), 5, "missing", "copy it from another node")
	if err := os.Symlink(filepath.Join(one, "secret.key"), filepath.Join(two, "secret.key")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(two, "owner.key"), []byte(a.Key)) // for the test
	b := testkit.StartBinary(t, two, "--database", database)
	bearer, _ := signedIn(t, a)
	for range 3 {
		for _, p := range []*testkit.Process{a, b} {
			if done := p.Client().Must(t, http.StatusOK, "POST", "/v2/secret_keys/rotate", nil); done["done"] != true {
				t.Errorf("rotate answers %v", done)
			}
			mustBear(t, a, bearer)
			mustBear(t, b, bearer)
			fresh, _ := signedIn(t, b)
			mustBear(t, a, fresh)
		}
	}
	// A node with a copy of the file has to be given the new one; until then it says so, and does everything else.
	three := t.TempDir()
	write(t, filepath.Join(three, "owner.key"), []byte(a.Key)) // for the test
	copied := filepath.Join(three, "secret.key")
	write(t, copied, read(t, filepath.Join(one, "secret.key")))
	if err := os.Chmod(copied, 0o600); err != nil {
		t.Fatal(err)
	}
	c := testkit.StartBinary(t, three, "--database", database)
	for _, path := range []string{"/v2/secret_keys/rotate", "/v2/signing_keys/rotate"} {
		a.Client().Must(t, http.StatusOK, "POST", path, nil)
	}
	made := a.Client().Must(t, http.StatusCreated, "POST", "/v2/app_clients", map[string]any{"type": "client_credentials", "name": "c", "api_roles": []any{"viewer"}})
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {made["client_id"].(string)}, "client_secret": {made["client_secret"].(string)}}.Encode()
	status, answer := raw(t, c, "POST", "/oauth/token", []byte(form), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if status != http.StatusServiceUnavailable || !strings.Contains(answer, "secret key") {
		t.Errorf("a token without its key: %d %s", status, answer)
	}
	mustBear(t, c, bearer)
	write(t, copied, read(t, filepath.Join(one, "secret.key")))
	mustBear(t, c, token(t, c, made["client_id"].(string), made["client_secret"].(string)))
	mustStop(t, c)
	if log := c.Log(); !strings.Contains(log, "add that key to the key file") {
		t.Errorf("the log does not say what to do:\n%s", log)
	}
}

// TestDatabasePassword proves that a start which fails for its database shows no password of its address, however
// that is written.
func TestDatabasePassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://quarry:hunter2secret@127.0.0.1:1/q", "postgres://quarry@127.0.0.1:1/q?password=hunter2secret",
		"postgres://quarry:hunter2secret@127.0.0.1:port/q", "postgres://quarry:hunter2secret@[::1/q", "postgres://quarry:%zzhunter2secret@127.0.0.1:1/q",
		"postgres://quarry:hunter2secret@127.0.0.1:1/q?sslmode=none", "postgres://quarry:a/hunter2secret@127.0.0.1:1/q",
		"postgresql://quarry:hunter2secret@no.such.host.invalid/q?connect_timeout=1", "mysql://quarry:hunter2secret@db/q",
		"postgres://quarry@127.0.0.1:1/q?sslpassword=hunter2secret&sslkey=/none&sslcert=/none&sslmode=require", "host=db password=hunter2secret",
	} {
		for _, got := range []outcome{
			serve(t, []string{"QUARRY_DATABASE=" + address}, on(t.TempDir())...),
			serve(t, nil, "--config", writeConfig(t, "log_level: debug\ndatabase: \""+address+"\"\ndata: "+t.TempDir()+"\nlisten: 127.0.0.1:0\n")),
		} {
			if got.code == 0 || got.err == "" {
				t.Errorf("%s: it exits with %d and says %q", address, got.code, got.err)
			}
			if strings.Contains(got.err+got.out, "hunter2secret") {
				t.Errorf("the password shows: %s", got.err)
			}
		}
	}
}
