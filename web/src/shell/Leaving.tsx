import { Button } from '../parts/Button'
import { Dialog } from '../parts/Dialog'
import { useLeaving } from '../parts/draft'
import { text } from '../text/en'

/** Asks before what somebody has typed is lost. */
export function Leaving() {
  const leaving = useLeaving()
  return (
    <Dialog title={text.leaving.title} open={leaving !== undefined} close={() => leaving?.stay()}>
      <p>{text.leaving.what}</p>
      <div className="row">
        <Button kind="first" onClick={leaving?.stay}>
          {text.leaving.stay}
        </Button>
        <Button kind="danger" onClick={leaving?.lose}>
          {text.leaving.lose}
        </Button>
      </div>
    </Dialog>
  )
}
