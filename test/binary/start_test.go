package binary

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quarry/internal/testkit"
)

// TestOwnerKey proves that the first start writes the key for its owner alone, and that nothing prints it: no start,
// no request with it, none with a wrong one.
func TestOwnerKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "data")
	p := testkit.StartBinary(t, dir, "--config", writeConfig(t, "log_level: debug\n"))
	file := filepath.Join(dir, "owner.key")
	raw := string(read(t, file))
	if raw != p.Key+"\n" || p.Key == "" || strings.ContainsAny(p.Key, " \n") {
		t.Errorf("owner.key holds %d bytes, want the key alone on one line", len(raw))
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("owner.key has mode %v (%v), want 0600", info.Mode(), err)
	}
	c := p.Client()
	c.Must(t, http.StatusOK, "GET", "/v2/corpora", nil)
	wrong := "zut_" + strings.Repeat("w", 40)
	for _, key := range []string{wrong, p.Key + "x", p.Key[:len(p.Key)-1]} {
		other := &testkit.Client{URL: p.URL, Key: key, HTTP: c.HTTP}
		other.Must(t, http.StatusUnauthorized, "GET", "/v2/corpora", nil)
	}
	// Keys in places where they don't belong.
	c.Must(t, http.StatusNotFound, "GET", "/v2/corpora/"+p.Key, nil)
	c.Must(t, http.StatusNotFound, "GET", "/v3/"+p.Key, nil)
	c.Must(t, http.StatusBadRequest, "POST", "/v2/corpora?x-api-key="+p.Key, map[string]any{"key": p.Key + "!"})
	mustStop(t, p)

	first := p.Log()
	for _, want := range []string{p.URL, dir, "boomerang-2023-q3", "all-MiniLM-L6-v2", file} {
		if !strings.Contains(first, want) {
			t.Errorf("the first start does not print %q:\n%s", want, first)
		}
	}
	again := testkit.StartBinary(t, dir)
	again.Client().Must(t, http.StatusOK, "GET", "/v2/corpora", nil)
	mustStop(t, again)
	second := again.Log()
	for _, want := range []string{again.URL, dir, "boomerang-2023-q3"} {
		if !strings.Contains(second, want) {
			t.Errorf("the second start does not print %q:\n%s", want, second)
		}
	}
	if strings.Contains(second, "owner.key") {
		t.Errorf("the second start prints where the key is:\n%s", second)
	}
	if again.Key != p.Key {
		t.Error("the second start wrote another key")
	}
	for _, secret := range []string{p.Key, wrong} {
		if strings.Contains(first+second, secret) {
			t.Error("a key stands in what the server printed")
		}
	}
}

// TestStartRefused proves the exit codes of starts that can't be: 3 names the holder, 4 the address, 5 the folder.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir)
	t.Run("held folder", func(t *testing.T) {
		refused(t, serve(t, nil, on(dir)...), 3, strconv.Itoa(p.PID()), dir)
	})
	t.Run("taken port", func(t *testing.T) {
		address := strings.TrimPrefix(p.URL, "http://")
		other := t.TempDir()
		refused(t, serve(t, nil, "--data", other, "--listen", address), 4, address)
		if _, err := os.Stat(filepath.Join(other, "owner.key")); err == nil {
			t.Error("a start that did not serve wrote a key")
		}
	})
	t.Run("no such address", func(t *testing.T) {
		refused(t, serve(t, nil, "--data", t.TempDir(), "--listen", "203.0.113.1:1"), 4, "203.0.113.1:1")
	})
	t.Run("the holder goes on", func(t *testing.T) {
		p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora", nil)
	})
	t.Run("a holder that was killed holds nothing", func(t *testing.T) {
		p.Kill()
		testkit.StartBinary(t, dir)
	})
}

// TestReadOnlyFolder proves that a folder that can't be written is refused in words, a new one and one in use.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	mustStop(t, testkit.StartBinary(t, used))
	for name, from := range map[string]string{"new": t.TempDir(), "used": used} {
		t.Run(name, func(t *testing.T) {
			dir := readOnly(t, from)
			refused(t, serve(t, nil, on(dir)...), 5, dir, "can't be written", "--data")
			below := filepath.Join(dir, "below")
			refused(t, serve(t, nil, on(below)...), 5, below, "can't be written", "--data")
		})
	}
	mustStop(t, testkit.StartBinary(t, used))
}

// TestFullFolder proves that a start on a full disk fails with that reason, however little is left, and harms no later start.
func TestFullFolder(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	dir := smallDisk(t, size)
	filler := filepath.Join(dir, "filler")
	for _, free := range []int64{0, 12 << 10, 56 << 10, 120 << 10} {
		t.Logf("%d bytes free", free)
		fill(t, filler, size-free)
		refused(t, serve(t, nil, on(dir)...), 5, dir, "full", "free some space")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	p := testkit.StartBinary(t, dir)
	p.Client().Must(t, http.StatusOK, "GET", "/v2/corpora", nil)
	mustStop(t, p)
}

// TestSettings proves that a flag beats the environment, the environment the file, and the file the default.
func TestSettings(t *testing.T) {
	t.Parallel()
	file, env, flag := t.TempDir(), t.TempDir(), t.TempDir()
	config := writeConfig(t, "data: "+file+"\nlisten: 127.0.0.2:0\n")
	for _, tc := range []struct {
		name      string
		env, args []string
		dir, host string
	}{
		{"file", nil, []string{"--config", config}, file, "127.0.0.2"},
		{"file named by the environment", []string{"QUARRY_CONFIG=" + config}, nil, file, "127.0.0.2"},
		{"environment over file", []string{"QUARRY_DATA=" + env, "QUARRY_LISTEN=127.0.0.3:0"}, []string{"--config", config}, env, "127.0.0.3"},
		{"one of two from the environment", []string{"QUARRY_DATA=" + env}, []string{"--config", config}, env, "127.0.0.2"},
		{
			"flag over all", []string{"QUARRY_DATA=" + env, "QUARRY_LISTEN=127.0.0.3:0"},
			[]string{"--config", config, "--data", flag, "--listen", "127.0.0.4:0"}, flag, "127.0.0.4",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := testkit.StartWith(t, tc.dir, tc.env, tc.args...)
			mustStop(t, p)
			if !strings.HasPrefix(p.URL, "http://"+tc.host+":") {
				t.Errorf("it serves %s, want host %s", p.URL, tc.host)
			}
			if !strings.Contains(p.Log(), "  data   "+tc.dir+"\n") {
				t.Errorf("it does not use %s:\n%s", tc.dir, p.Log())
			}
		})
	}
}

// TestSettingsRefused proves that a setting that can't be is refused by its name before anything is touched.
func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	for _, tc := range []struct {
		name, file string
		env        []string
		want       string
	}{
		{"unknown key", "lisen: 127.0.0.1:0\n", nil, "lisen"},
		{"not YAML", "data: [\n", nil, "is not YAML"},
		{"certificate without a key", "tls_cert: cert.pem\n", nil, "tls_key"},
		{"no such certificate", "tls_cert: none.pem\ntls_key: none.pem\n", nil, "setting tls_cert: there is no file none.pem"},
		{"wrong type", "max_json: many\n", nil, "many"},
		{"out of range", "max_json: 0\n", nil, "max_json"},
		{"environment", "", []string{"QUARRY_MAX_UPLOAD=ten"}, "QUARRY_MAX_UPLOAD"},
		{"unknown level", "log_level: loud\n", nil, "log_level"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := serve(t, tc.env, append(on(dir), "--config", writeConfig(t, tc.file))...)
			refused(t, got, 2, tc.want)
			if _, err := os.Stat(dir); err == nil {
				t.Error("the data folder was made")
			}
		})
	}
	refused(t, serve(t, nil, append(on(dir), "--config", filepath.Join(dir, "nowhere.yaml"))...), 2, "nowhere.yaml")
}

// refused checks how a start ended: nothing on standard output, each of words in the message.
func refused(t *testing.T, got outcome, code int, words ...string) {
	t.Helper()
	if got.code != code {
		t.Errorf("it exits with %d, want %d: %s", got.code, code, got.err)
	}
	if got.out != "" {
		t.Errorf("it prints %q, want nothing but the message", got.out)
	}
	for _, word := range words {
		if !strings.Contains(got.err, word) {
			t.Errorf("the message %q does not say %q", got.err, word)
		}
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	write(t, name, []byte(text))
	return name
}

// TestCommandCollectsNothing proves that a command of the client is over before its memory is collected, but for what was made
// before quarry/cmd/quarry/heap was initialised.
func TestCommandCollectsNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(testkit.Binary(t), "key", "--help")
	cmd.Env = []string{"GODEBUG=gctrace=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count("\n"+string(out), "\ngc "); n > 1 {
		t.Errorf("memory was collected %d times:\n%s", n, out)
	}
}
