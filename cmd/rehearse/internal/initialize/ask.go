package initialize

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// asker asks a person for the topic of a scenario.
type asker struct {
	in  *bufio.Reader
	out io.Writer
}

// Ask asks a person for the topic of a scenario, and sets the flags of the command from the answers. For a suite, it
// returns the function that writes it.
func Ask(command *cobra.Command, in io.Reader, out io.Writer) (func() error, error) {
	a := asker{in: bufio.NewReader(in), out: out}
	fmt.Fprint(a.out, `What is the scenario about?
  1  a feature gate: off, on, off and on again
  2  an upgrade of your objects, and the rollback
  3  a system of your own
  4  a suite: what is required of a system, and the scenarios that show it
`)
	choice, err := a.one("Number", "1", "1", "2", "3", "4")
	if err != nil {
		return nil, err
	}
	switch choice {
	case "1":
		return nil, a.flags(command, [][2]string{
			{"gate", "Feature gate, such as RelaxedServiceNameValidation"},
			{"kep", "Number of the enhancement (none: fill it in later)"},
			{"filename", "File with an object that uses the feature (none: fill it in later)"},
		})
	case "2":
		return nil, a.flags(command, [][2]string{
			{"from", "Version that you have, such as 1.35"},
			{"to", "Version to go to (none: the next one)"},
			{"filename", "File or folder with your objects (none: an example)"},
		})
	case "3":
		return nil, a.flags(command, [][2]string{
			{"system", "Name, or NAME=process:FILE (also module, manifests) with the file that defines it"},
			{"filename", "File with an object that it acts on (none: fill it in later)"},
		})
	}
	return a.suite(command)
}

// flags asks for the values of flags. The first one must have an answer.
func (a asker) flags(command *cobra.Command, questions [][2]string) error {
	for i, q := range questions {
		answer, err := a.answer(q[1], i == 0)
		if err != nil {
			return err
		}
		if answer == "" {
			continue
		}
		if err := command.Flags().Set(q[0], answer); err != nil {
			return fmt.Errorf("%s: %w", q[1], err)
		}
	}
	return nil
}

// suite asks for the name of a suite.
func (a asker) suite(command *cobra.Command) (func() error, error) {
	name, err := a.answer("Name of the suite and its folder, such as my-operator", true)
	if err != nil {
		return nil, err
	}
	simulator, err := a.one("With a small simulator of the system, written in Go? yes or no", "no", "yes", "no")
	if err != nil {
		return nil, err
	}
	f := suiteFlags{simulator: simulator == "yes"}
	return func() error { return f.run(command, name) }, nil
}

// one asks until the answer is one of the wanted ones. An empty answer is the fallback.
func (a asker) one(question, fallback string, wanted ...string) (string, error) {
	for {
		answer, err := a.answer(fmt.Sprintf("%s [%s]", question, fallback), false)
		if err != nil {
			return "", err
		}
		if answer == "" {
			return fallback, nil
		}
		for _, want := range wanted {
			if strings.HasPrefix(want, strings.ToLower(answer)) {
				return want, nil
			}
		}
		fmt.Fprintf(a.out, "Please answer with one of: %s\n", strings.Join(wanted, ", "))
	}
}

// answer reads a line. If an answer is needed, it asks until the line is not empty.
func (a asker) answer(question string, needed bool) (string, error) {
	for {
		fmt.Fprintf(a.out, "%s: ", question)
		line, err := a.in.ReadString('\n')
		line = strings.TrimSpace(line)
		switch {
		case line != "" || err == nil && !needed:
			return line, nil
		case errors.Is(err, io.EOF):
			fmt.Fprintln(a.out)
			return "", errors.New("the input ended; nothing was written")
		case err != nil:
			return "", fmt.Errorf("read an answer: %w", err)
		}
	}
}
