package reports

import "time"

// HistoryFile is the name of a scenario's history in its folder.
const HistoryFile = "history.jsonl"

// HistoryLine is one line of a history: the beginning of a step, a change of an object, a gap in which a resource was
// not watched, or, at the end, the managers of an object's fields. Changes are in the order in which the API server
// made them.
type HistoryLine struct {
	// Kind of the line: step, change, gap or managers.
	Line string    `json:"line"`
	At   time.Time `json:"at"`
	// Step is the number of the step that begins, or in which the change occurred, from 1; 0 before the first.
	Step int `json:"step"`

	// Title, Verb and State of a step; State is the state of the cluster.
	Title string `json:"title,omitempty"`
	Verb  string `json:"verb,omitempty"`
	State string `json:"state,omitempty"`

	// Change is added, modified or deleted; or present, for objects that existed when the scenario began.
	Change          string `json:"change,omitempty"`
	Resource        string `json:"resource,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	Kind            string `json:"kind,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Relisted says that only a list found the change, or the end of the gap.
	Relisted bool `json:"relisted,omitempty"`
	// Object is the whole object, or Patch is the JSON merge patch from its previous state; Dropped says that the state
	// is no longer known.
	Object  map[string]any `json:"object,omitempty"`
	Patch   map[string]any `json:"patch,omitempty"`
	Dropped bool           `json:"dropped,omitempty"`

	// Until is the end of a gap; without it, the gap has not ended. Error is its reason, or the reason why managers are
	// unknown.
	Until *time.Time `json:"until,omitempty"`
	Error string     `json:"error,omitempty"`

	// Managers of the object's fields. In a change, they are those just after it, for the last 100 changes of a failed
	// scenario, if the storage still had them. In a separate line, they are those at the end of the scenario, if the
	// object still existed.
	Managers []FieldManager `json:"managers,omitempty"`
}

// FieldManager is an entry of an object's managedFields: the last manager of some fields.
type FieldManager struct {
	// Name of the manager, and Subresource that it wrote; "" for the object itself.
	Name        string `json:"name"`
	Subresource string `json:"subresource,omitempty"`
	// Fields in the form of fieldsV1.
	Fields map[string]any `json:"fields"`
}
