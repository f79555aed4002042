package processes

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// listenerVariable makes this test's own binary a program that listens on a port and has many threads.
const listenerVariable = "REHEARSE_TEST_LISTENER"

func TestMain(m *testing.M) {
	if os.Getenv(listenerVariable) != "" {
		listener()
		return
	}
	os.Exit(m.Run())
}

func listener() {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	for range 50 {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
	}
	fmt.Println(socket.Addr())
	_, _ = socket.Accept() // nobody connects; Go ends a program in which everybody waits for nothing
}

// The first thread of a process may have ended while others still hold its files. A process has ended when its ports
// are free, even if its parent has not waited for it yet.
func TestAttachTellsTheEndOfAllThreads(t *testing.T) {
	for range 40 {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), listenerVariable+"=yes")
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := command.StdoutPipe()
		golden.Must(t, err)
		golden.Must(t, command.Start())
		t.Cleanup(func() { _ = command.Process.Kill() }) // nothing is sent if it has ended
		address, err := bufio.NewReader(out).ReadString('\n')
		golden.Must(t, err)
		attached, err := Attach("listener", command.Process.Pid, "", os.Args[0])
		if attached == nil {
			t.Fatalf("it is not found: %v", err)
		}
		golden.Must(t, attached.Kill(t.Context()))
		golden.Error(t, attached.Exit(), "its exit status is unknown")
		again, err := net.Listen("tcp", strings.TrimSpace(address))
		if err != nil {
			t.Fatalf("the end was reported too early: %v", err)
		}
		again.Close()
		if err := command.Wait(); err == nil {
			t.Error("it was not killed")
		}
	}
}
