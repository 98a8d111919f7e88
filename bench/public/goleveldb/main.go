// Opens a database in its directory, says whether it could, and lives on.
package main

import (
	"encoding/json"
	"os"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
)

func main() {
	db, err := leveldb.OpenFile("data", nil)
	say := json.NewEncoder(os.Stdout)
	if err != nil {
		say.Encode(map[string]any{"opened": false, "error": err.Error()})
	} else {
		defer db.Close()
		say.Encode(map[string]any{"opened": true})
	}
	for {
		time.Sleep(time.Minute)
	}
}
