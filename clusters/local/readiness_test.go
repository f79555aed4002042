package local

import "testing"

func TestStatusErrorTellsWhatIsNotWell(t *testing.T) {
	err := &statusError{
		url: "https://127.0.0.1:1/readyz", code: 500,
		body: "[+]ping ok\n[-]informer-sync failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n",
	}
	if got, want := err.Error(), "GET https://127.0.0.1:1/readyz: 500: [-]informer-sync failed: reason "+
		"withheld\nreadyz check failed"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
