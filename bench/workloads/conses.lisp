;; A million conses of compiled code; prints the processor time that they took, in milliseconds.
(defun conses (n)
  (let ((list nil))
    (dotimes (i n list)
      (setq list (cons i list))
      (when (zerop (mod i 1000)) (setq list nil)))))

(defun run ()
  (conses 100000)
  (let ((start (get-internal-run-time)))
    (conses 1000000)
    (format t "~d~%" (round (* 1000 (- (get-internal-run-time) start)) internal-time-units-per-second))))

(run)
