package postgres

import (
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// testImage is made by testdata/make-image.sh on first use, and stays.
const testImage = "assay-test-postgres:local"

// makeImage makes sure that the image is there. Without Docker the test fails: that path would go untested.
func makeImage(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "testdata/make-image.sh", testImage)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Run(); err != nil {
		t.Fatalf("making the image %s: %v; this test needs Docker, root and apt", testImage, err)
	}
}

// docker runs Docker's own tool, as somebody who does not trust us would.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// containersOf lists the containers that the directories in a temporary folder stand for.
func containersOf(t *testing.T, temp string) []string {
	t.Helper()
	var found []string
	for _, label := range labelsIn(t, temp) {
		found = append(found, strings.Fields(docker(t, "ps", "--all", "--quiet", "--filter", "label="+containerLabel+"="+label))...)
	}
	return found
}

func labelsIn(t *testing.T, temp string) (labels []string) {
	t.Helper()
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if label, err := os.ReadFile(temp + "/" + e.Name() + "/" + containerFile); err == nil {
			labels = append(labels, string(label))
		}
	}
	return labels
}

func TestAServerInAContainerIsPrivateAndLeavesNothingBehind(t *testing.T) {
	makeImage(t)
	temp := tempFolder(t)
	volumes := docker(t, "volume", "ls", "--quiet")
	started := time.Now()
	s := open(t, Options{Sources: []Kind{Container}, TempDir: temp, Container: ContainerOptions{Image: testImage},
		Settings: map[string]string{"max_connections": "222"}})
	t.Logf("started a container in %s", time.Since(started))
	if got, want := s.Source(), "container "+testImage; got != want {
		t.Errorf("source is %q, want %q", got, want)
	}
	if got := ask(t, s, `SHOW max_connections`); got != "222" {
		t.Errorf("max_connections is %s", got)
	}
	if got := ask(t, s, `SHOW fsync`); got != "off" {
		t.Errorf("fsync is %s", got)
	}
	d, err := s.CreateDatabase(t.Context(), "in a container")
	if err != nil {
		t.Fatal(err)
	}
	running := containersOf(t, temp)
	if len(running) != 1 {
		t.Fatalf("containers: %v", running)
	}
	ports := docker(t, "port", running[0])
	if d.Host() == loopback && os.Getenv("TESTCONTAINERS_HOST_OVERRIDE") == loopback && !strings.HasPrefix(ports, "5432/tcp -> 127.0.0.1:") {
		t.Errorf("published to other machines: %s", ports)
	}
	labels := labelsIn(t, temp)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := docker(t, "ps", "--all", "--quiet", "--filter", "label="+containerLabel+"="+labels[0]); left != "" {
		t.Errorf("containers left: %s", left)
	}
	if after := docker(t, "volume", "ls", "--quiet"); after != volumes {
		t.Errorf("volumes before: %s, after: %s", volumes, after)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestASweepRemovesTheContainerOfAKilledRunAndNoOther(t *testing.T) {
	makeImage(t)
	deadTemp, liveTemp := tempFolder(t), tempFolder(t)
	dead := startOtherRun(t, helperTask{Sources: []Kind{Container}, TempDir: deadTemp, Image: testImage})
	live := startOtherRun(t, helperTask{Sources: []Kind{Container}, TempDir: liveTemp, Image: testImage})
	dead.kill(t)
	labels := labelsIn(t, deadTemp)
	if left := containersOf(t, deadTemp); len(left) != 1 {
		t.Fatalf("containers of the dead run: %v", left)
	}
	for _, temp := range []string{deadTemp, liveTemp} {
		sweepDirectories(t.Context(), Options{TempDir: temp, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	}
	if left := docker(t, "ps", "--all", "--quiet", "--filter", "label="+containerLabel+"="+labels[0]); left != "" {
		t.Errorf("the dead run's container is still there: %s", left)
	}
	if left, _ := os.ReadDir(deadTemp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if left := containersOf(t, liveTemp); len(left) != 1 {
		t.Errorf("containers of the live run: %v", left)
	}
	labels = labelsIn(t, liveTemp)
	live.interrupt(t)
	if left := docker(t, "ps", "--all", "--quiet", "--filter", "label="+containerLabel+"="+labels[0]); left != "" {
		t.Errorf("a run ended by Ctrl-C left its container: %s", left)
	}
}

func TestAContainerWhoseServerGivesUpIsExplainedByItsLog(t *testing.T) {
	makeImage(t)
	temp := tempFolder(t)
	_, err := Open(t.Context(), Options{Sources: []Kind{Container}, TempDir: temp, Container: ContainerOptions{Image: testImage},
		Settings: map[string]string{"shared_bufers": "1GB"}})
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{"ended with status 1", `unrecognized configuration parameter "shared_bufers"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error says nothing of %q:\n%v", want, err)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A user who may not reach the engine stands for a machine that has none: which engine there is, is decided once for a
// process, by more ways than a test can close.
func TestAUserWithoutAContainerEngineIsToldSo(t *testing.T) {
	temp := tempFolder(t)
	cmd := helperCommand(t, helperTask{Sources: []Kind{Container}, TempDir: temp})
	asNobody(t, cmd)
	out, err := cmd.Output()
	if err == nil {
		t.Fatalf("it found one: %s", out)
	}
	if text := string(out); !strings.Contains(text, "container: no container engine: ") || !strings.Contains(text, "start Docker") {
		t.Errorf("it says %s", text)
	}
}
